/** Puts the text on the clipboard. Throws where the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // A page that came by plain http has no clipboard of its own; the command of old is there all the same.
    if (!copyBySelection(text)) throw error;
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  // An open dialog takes the focus back from anything outside.
  const place = focused?.closest('[role="dialog"], [role="alertdialog"]') ?? document.body;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.style.cssText = 'position: fixed; top: 0; opacity: 0';
  place.append(area);
  area.focus({ preventScroll: true });
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
