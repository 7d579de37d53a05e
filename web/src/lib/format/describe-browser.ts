import { getParser } from 'bowser';

/** Returns a label such as 'Firefox on Linux', as far as the user agent tells. */
export function describeBrowser(userAgent: string): string {
  if (!userAgent) return 'Unknown browser';
  const { browser, os } = getParser(userAgent).getResult();
  if (!browser.name) return userAgent.split(' ')[0] ?? userAgent;
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
