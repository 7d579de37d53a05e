/** The name of the modifier key for shortcuts on this device. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** Returns true on an iPhone, iPad or iPod. iPads claim to be Macs but have touch. */
export function isIos(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iP(hone|ad|od)/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1);
}

/** Returns true while the user has text selected. A click then ends a selection and shouldn't navigate. */
export function hasTextSelection(): boolean {
  return window.getSelection()?.isCollapsed === false;
}
