import { getParser } from 'bowser';

/** 'Firefox on Linux'; as much of it as the browser says of itself. */
export function describeBrowser(userAgent: string): string {
  if (!userAgent) return 'Unknown browser';
  const { browser, os } = getParser(userAgent).getResult();
  if (!browser.name) return userAgent.split(' ')[0] ?? userAgent;
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
