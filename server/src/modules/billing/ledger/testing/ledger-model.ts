import type { Move, Outcome, WindowMove } from './moves.ts';
import { answerMicro } from './window-moves.ts';

type ModelHold = {
  user: number;
  /** Whether it counts towards the budget of the user's API key. */
  withKey: boolean;
  asked: bigint;
  amount: bigint;
  minutes: number;
  /** The charged amount: undefined while the hold is open, 0 if it was released. */
  settled?: bigint;
};

type ModelUser = {
  balance: bigint;
  /** Remaining given credits by the minute of their expiry. */
  given: Map<number, bigint>;
  owed: bigint;
};

/** A budget over all time; null for none. */
type ModelKey = { budget: bigint | null; spent: bigint };

type ModelWindow = { answers: number; isClosed: boolean };

/** Holds by their number, and holds of usage windows by the window's number. */
type HoldName = number | `window:${number}`;

/** The expiry of given credits that never expire. */
export const NEVER = Number.POSITIVE_INFINITY;
const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b));
const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((a, b) => a + b, 0n);

/** A minimal model of what the ledger guarantees, for the property tests. */
export class LedgerModel {
  readonly users: ModelUser[];
  /** By user index; undefined for users without a key. */
  readonly keys: (ModelKey | undefined)[];
  readonly holds = new Map<HoldName, ModelHold>();
  readonly windows = new Map<number, ModelWindow>();
  readonly transfers = new Map<number, { from: number; to: number; amount: bigint }>();
  /** By sender and idempotency key. */
  readonly sends = new Map<string, { to: number; amount: bigint }>();
  readonly chargebacks = new Map<number, { user: number; amount: bigint }>();

  /** All users start with the same amounts of given credits, which never expire, and of bought credits. */
  constructor(
    users: number,
    { given, bought, budgets }: { given: bigint; bought: bigint; budgets: (bigint | null)[] },
  ) {
    this.keys = Array.from({ length: users }, (_, who) => {
      const budget = budgets[who];
      return budget === undefined ? undefined : { budget, spent: 0n };
    });
    this.users = Array.from({ length: users }, () => ({
      balance: given + bought,
      given: new Map([[NEVER, given]]),
      owed: 0n,
    }));
  }

  totals() {
    return this.users.map(({ balance, given, owed }, who) => ({
      balance,
      held: this.#held(who),
      given: sum(given.values()),
      owed,
    }));
  }

  keyTotals() {
    return this.keys.map((key, who) => key && { spent: key.spent, held: this.#heldWithKey(who) });
  }

  /** Returns each user's remaining given credits by the minute of their expiry. */
  portions() {
    return this.users.map(({ given }) => new Map([...given].filter(([, left]) => left > 0n)));
  }

  apply(move: Move): Outcome {
    switch (move.move) {
      case 'transfer':
        return this.#transfer(move);
      case 'send':
        return this.#send(move);
      case 'give': {
        const user = this.#user(move.user);
        const minutes = move.minutes ?? NEVER;
        user.balance += move.amount;
        user.given.set(minutes, (user.given.get(minutes) ?? 0n) + move.amount);
        return 'ok';
      }
      case 'hold':
        return this.#hold(move.key, move);
      case 'extend':
        return this.#enlarge(move.hold, () => move.amount ?? 0n, move.minutes);
      case 'grow':
        return this.#enlarge(move.hold, (amount) => amount + move.by, move.minutes);
      case 'settle': {
        const held = this.holds.get(move.hold);
        if (!held) return 'mistake';
        if (held.settled !== undefined) return held.settled === move.amount ? 'ok' : 'conflict';
        if (move.amount > held.amount) return 'mistake';
        this.#settle(held, move.amount);
        return 'ok';
      }
      case 'expire': {
        for (const held of this.holds.values()) {
          if (held.settled === undefined && held.minutes <= move.minutes) held.settled = 0n;
        }
        return 'ok';
      }
      case 'expireGiven': {
        this.users.forEach(({ given }, who) => {
          const over = [...given].filter(([minutes]) => minutes <= move.minutes).map(([, left]) => left);
          const all = sum(given.values());
          this.#spend(who, least(sum(over), all - least(this.#held(who), all)));
        });
        return 'ok';
      }
      case 'chargeBack': {
        const first = move.key === null ? undefined : this.chargebacks.get(move.key);
        if (first)
          return first.user === move.user && first.amount === move.amount ? 'ok' : 'idempotency_conflict';
        if (move.key !== null) this.chargebacks.set(move.key, move);
        this.#user(move.user).owed += move.amount;
        this.#collect(move.user);
        return 'ok';
      }
      case 'collect':
        this.users.forEach((_, who) => {
          this.#collect(who);
        });
        return 'ok';
      case 'open':
      case 'widen':
      case 'use':
      case 'close':
        return this.#applyToWindow(move);
    }
  }

  #applyToWindow(move: WindowMove): Outcome {
    const name: HoldName = `window:${move.window}`;
    if (move.move === 'open') {
      const outcome = this.#hold(name, move);
      if (outcome === 'ok' && !this.windows.has(move.window))
        this.windows.set(move.window, { answers: 0, isClosed: false });
      return outcome;
    }
    if (move.move === 'widen') return this.#enlarge(name, (amount) => amount + move.by, undefined);
    const window = this.windows.get(move.window);
    const held = this.holds.get(name);
    if (!window || !held || window.isClosed) return 'closed';
    if (move.move === 'use') {
      if (move.from > window.answers + 1) return 'mistake';
      window.answers = Math.max(window.answers, move.from + move.answers - 1);
      return 'ok';
    }
    const used = usedMicro(window.answers);
    const isRunOut = held.settled !== undefined;
    window.isClosed = true;
    if (!isRunOut) this.#settle(held, used < held.amount ? used : held.amount);
    return isRunOut && used > 0n ? 'conflict' : 'ok';
  }

  #hold(
    name: HoldName,
    { user, amount, minutes, withKey }: Pick<ModelHold, 'user' | 'amount' | 'minutes' | 'withKey'>,
  ): Outcome {
    const first = this.holds.get(name);
    if (first) return first.user === user && first.asked === amount ? 'ok' : 'idempotency_conflict';
    if (this.#available(user) < amount) return 'insufficient_funds';
    if (withKey && this.#leftOfBudget(user) < amount) return 'budget_exceeded';
    this.holds.set(name, { user, asked: amount, amount, minutes, withKey });
    return 'ok';
  }

  #settle(held: ModelHold, amount: bigint): void {
    held.settled = amount;
    this.#spend(held.user, amount);
    const key = held.withKey ? this.keys[held.user] : undefined;
    if (key) key.spent += amount;
  }

  #heldWithKey(who: number): bigint {
    const open = [...this.holds.values()].filter((held) => held.user === who && held.settled === undefined);
    return sum(open.filter(({ withKey }) => withKey).map(({ amount }) => amount));
  }

  /**
   * Returns how much the user's API key may still hold. Without a budget, this is all that the user has
   * available.
   */
  #leftOfBudget(who: number): bigint {
    const key = this.keys[who];
    if (!key || key.budget === null) return this.#available(who);
    return key.budget - key.spent - this.#heldWithKey(who);
  }

  #user(who: number): ModelUser {
    const user = this.users[who];
    if (user === undefined) throw new Error(`User ${who} does not exist`);
    return user;
  }

  #held(who: number): bigint {
    const open = [...this.holds.values()].filter((held) => held.user === who && held.settled === undefined);
    return sum(open.map((held) => held.amount));
  }

  #available(who: number): bigint {
    return this.#user(who).balance - this.#held(who);
  }

  #sendable(who: number): bigint {
    const { balance, given } = this.#user(who);
    return least(balance - this.#held(who), balance - sum(given.values()));
  }

  /** Spends given credits first, in the order of their expiry. */
  #spend(who: number, amount: bigint): void {
    const user = this.#user(who);
    user.balance -= amount;
    let left = amount;
    for (const minutes of [...user.given.keys()].sort((a, b) => a - b)) {
      const portion = user.given.get(minutes) ?? 0n;
      const taken = least(portion, left);
      user.given.set(minutes, portion - taken);
      left -= taken;
    }
  }

  #collect(who: number): void {
    const user = this.#user(who);
    const amount = least(user.owed, this.#sendable(who));
    user.owed -= amount;
    user.balance -= amount;
  }

  #refusal(from: number, amount: bigint): Outcome | null {
    if (this.#available(from) < amount) return 'insufficient_funds';
    return this.#sendable(from) - this.#user(from).owed < amount ? 'not_sendable' : null;
  }

  #transfer(move: Extract<Move, { move: 'transfer' }>): Outcome {
    const first = move.key === null ? undefined : this.transfers.get(move.key);
    if (first) {
      const same = first.from === move.from && first.to === move.to && first.amount === move.amount;
      return same ? 'ok' : 'idempotency_conflict';
    }
    const refusal = this.#refusal(move.from, move.amount);
    if (refusal !== null) return refusal;
    if (move.from === move.to) return 'mistake';
    if (move.key !== null) this.transfers.set(move.key, move);
    this.#user(move.from).balance -= move.amount;
    this.#user(move.to).balance += move.amount;
    return 'ok';
  }

  #send(move: Extract<Move, { move: 'send' }>): Outcome {
    const key = `${move.from}:${move.key}`;
    const first = move.key === null ? undefined : this.sends.get(key);
    if (first) return first.to === move.to && first.amount === move.amount ? 'ok' : 'idempotency_conflict';
    const refusal = this.#refusal(move.from, move.amount);
    if (refusal !== null) return refusal;
    if (move.to === null) return 'not_found';
    if (move.from === move.to) return 'invalid_request';
    if (move.key !== null) this.sends.set(key, { to: move.to, amount: move.amount });
    this.#user(move.from).balance -= move.amount;
    this.#user(move.to).balance += move.amount;
    return 'ok';
  }

  /** Raises a hold to the amount that `wanted` returns, and optionally extends its expiry. */
  #enlarge(name: HoldName, wanted: (amount: bigint) => bigint, minutes: number | undefined): Outcome {
    const held = this.holds.get(name);
    if (!held) return 'mistake';
    if (held.settled !== undefined) return 'conflict';
    const more = wanted(held.amount) - held.amount;
    if (more > 0n) {
      if (more > this.#available(held.user)) return 'insufficient_funds';
      if (held.withKey && more > this.#leftOfBudget(held.user)) return 'budget_exceeded';
      held.amount += more;
    }
    held.minutes = Math.max(held.minutes, minutes ?? 0);
    return 'ok';
  }
}

/** Returns the total cost of the first answers of a window. */
export function usedMicro(answers: number): bigint {
  return sum(Array.from({ length: answers }, (_, i) => answerMicro(i + 1)));
}
