/** Returns true while the user has text selected. A click then ends a selection and shouldn't navigate. */
export function hasTextSelection(): boolean {
  return window.getSelection()?.isCollapsed === false;
}
