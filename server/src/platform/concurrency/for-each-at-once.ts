/** Does `work` for each item, in their order, for so many of them at once. */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  // One iterator: whoever is done takes the next.
  const rest = items.values();
  const takeTurns = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, takeTurns));
}
