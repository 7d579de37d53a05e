const nouns: Record<string, string> = { api_key: 'API key', user: 'Account', asset: 'Asset' };

/** 'api_key.created' as 'API key created', 'asset.file_deleted' as 'Asset file deleted'. */
export function describeAction(action: string): string {
  const [noun = '', verb = ''] = action.split('.');
  const words = nouns[noun] ?? `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  return `${words} ${verb}`.replaceAll('_', ' ').trim();
}
