/** The address that was typed: it stays between the pages for signing in, up, and a new password. */
export const typed = $state({ email: '' });
