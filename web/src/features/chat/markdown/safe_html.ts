import DOMPurify from 'dompurify';

declare const safe: unique symbol;
/** HTML that may be put into the page. */
export type SafeHtml = string & { [safe]: true };

const TAGS = `a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre
  q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var`;
// No classes: the page's own would let it look like a part of the page.
const ATTRIBUTES =
  'align colspan data-language data-math data-table rel rowspan start tabindex target title';

const purifier = DOMPurify(window);

// Pages of strangers get no hold of this one, and are not told where their reader came from.
purifier.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName !== 'A') return;
  element.setAttribute('target', '_blank');
  element.setAttribute('rel', 'noopener noreferrer nofollow');
});

/**
 * What a model has written, without anything that runs, sends or loads something. Pictures are not
 * allowed: their addresses would tell a stranger, for whom the model was made to write them, that and
 * what somebody has read.
 */
export function sanitized(html: string): SafeHtml {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(/\s+/),
    ALLOWED_ATTR: ['href', ...ATTRIBUTES.split(' ')],
    // What is no address is not held against the pattern of addresses.
    ADD_URI_SAFE_ATTR: ATTRIBUTES.split(' '),
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i
  }) as SafeHtml;
}

/** Code whose parts are marked by classes of the highlighter. */
export function sanitizedCode(html: string): SafeHtml {
  return purifier.sanitize(html, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'] }) as SafeHtml;
}
