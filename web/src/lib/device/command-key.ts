/** What is held down for a shortcut, as this device's keyboard calls it. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
