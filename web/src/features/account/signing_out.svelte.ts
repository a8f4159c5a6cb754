/** Whether somebody is asked if they want to sign out everywhere. */
export const signingOut = $state({ isAsked: false });
