/** Two can be held side by side: a third takes the place of the one that was chosen first. */
const COMPARED_MAX = 2;

export function toggleCompared(compared: readonly string[], id: string, checked: boolean): string[] {
  return checked ? [...compared, id].slice(-COMPARED_MAX) : compared.filter((one) => one !== id);
}
