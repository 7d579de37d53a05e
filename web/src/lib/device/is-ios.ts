/** Returns true on an iPhone, iPad or iPod. iPads claim to be Macs but have touch. */
export function isIos(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iP(hone|ad|od)/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1);
}
