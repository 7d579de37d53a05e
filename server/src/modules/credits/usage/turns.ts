/** Runs work of the same key one after the other; of different keys none waits for another's. */
export class Turns {
  /** The last work of each key, while it is under way. */
  private readonly last = new Map<string, Promise<void>>();
  private readonly atOnce: number;

  constructor(atOnce: number) {
    this.atOnce = atOnce;
  }

  /** Runs the work of each of these keys, of some of them at the same time. */
  async takeEach(keys: Iterable<string>, work: (key: string) => Promise<void>): Promise<void> {
    const left = [...keys].values();
    await Promise.all(
      Array.from({ length: this.atOnce }, async () => {
        for (const key of left) await this.take(key, () => work(key));
      }),
    );
  }

  private take(key: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.last.get(key) ?? Promise.resolve()).then(work).finally(() => {
      if (this.last.get(key) === turn) this.last.delete(key);
    });
    this.last.set(key, turn);
    return turn;
  }
}
