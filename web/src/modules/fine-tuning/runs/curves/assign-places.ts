/** Assigns places that do not change while an id stays in the list; null marks a free place. */
export function assignPlaces(before: readonly (string | null)[], ids: readonly string[]): (string | null)[] {
  const places = before.map((id) => (id !== null && ids.includes(id) ? id : null));
  for (const id of ids) {
    if (places.includes(id)) continue;
    const free = places.indexOf(null);
    places[free < 0 ? places.length : free] = id;
  }
  return places;
}
