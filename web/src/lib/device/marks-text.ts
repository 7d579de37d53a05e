/** Whether somebody marks text: who does that with the mouse wants the text, and not what a press on it leads to. */
export function marksText(): boolean {
  return window.getSelection()?.isCollapsed === false;
}
