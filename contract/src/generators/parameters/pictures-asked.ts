/** How many pictures a form's values ask for: one where it has no field for that, or the field holds no number yet. Pure. */
export function picturesAsked({ n }: Readonly<Record<string, unknown>>): number {
  return Number.isInteger(n) ? Number(n) : 1;
}
