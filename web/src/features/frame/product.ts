/** The name of the product, as its operator has set it: the service writes it into the page. */
export const product =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? '';
