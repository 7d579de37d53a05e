/** Whether this is an iPhone, an iPad or an iPod; an iPad calls itself a Mac, and has fingers. */
export function isIos(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iP(hone|ad|od)/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1);
}
