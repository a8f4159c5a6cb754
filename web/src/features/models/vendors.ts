// Names of firms, the same in all languages.
const NAMES: Record<string, string> = {
  anthropic: 'Anthropic',
  deepseek: 'DeepSeek',
  google: 'Google',
  huggingface: 'Hugging Face',
  mistral: 'Mistral AI',
  moonshot: 'Moonshot AI',
  openai: 'OpenAI',
  xai: 'xAI'
};

/** What the maker of a model is called. */
export function vendorName(id: string): string {
  return NAMES[id] ?? id.charAt(0).toUpperCase() + id.slice(1);
}
