/**
 * Shares work by its key: all that ask for it before it begins, which is in the same moment, get one answer. What is
 * under way is not shared, as it may not see what has changed since it began.
 */
export function shareUnbegun<Answer>(): (key: string, work: () => Promise<Answer>) => Promise<Answer> {
  const unbegun = new Map<string, Promise<Answer>>();
  const beginSoon = async (key: string, work: () => Promise<Answer>) => {
    await Promise.resolve();
    unbegun.delete(key);
    return work();
  };
  return (key, work) => {
    const shared = unbegun.get(key) ?? beginSoon(key, work);
    unbegun.set(key, shared);
    return shared;
  };
}
