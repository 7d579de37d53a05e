import type { Move, Outcome } from './ledger-moves.ts';

type ModelHold = {
  user: number;
  asked: bigint;
  amount: bigint;
  minutes: number;
  /** Undefined while it is open; 0 when released. */
  settled?: bigint;
};

type ModelUser = {
  balance: bigint;
  /** Given credits that are left, by the minute in which they end. */
  given: Map<number, bigint>;
  owed: bigint;
};

const NEVER = Number.POSITIVE_INFINITY;
const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b));
const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((a, b) => a + b, 0n);

/** The ledger's promises, once more, in the plainest way: for its property tests. */
export class LedgerModel {
  readonly users: ModelUser[];
  readonly holds = new Map<number, ModelHold>();
  readonly transfers = new Map<number, { from: number; to: number; amount: bigint }>();
  /** By sender and key. */
  readonly sends = new Map<string, { to: number; amount: bigint }>();
  readonly chargebacks = new Map<number, { user: number; amount: bigint }>();

  /** All begin with the same: so much given, without an end, and so much bought. */
  constructor(users: number, { given, bought }: { given: bigint; bought: bigint }) {
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
      case 'hold': {
        const first = this.holds.get(move.key);
        if (first)
          return first.user === move.user && first.asked === move.amount ? 'ok' : 'idempotency_conflict';
        if (this.#available(move.user) < move.amount) return 'insufficient_funds';
        const { user, amount, minutes } = move;
        this.holds.set(move.key, { user, asked: amount, amount, minutes });
        return 'ok';
      }
      case 'extend':
      case 'grow':
        return this.#enlarge(move);
      case 'settle': {
        const held = this.holds.get(move.hold);
        if (!held) return 'mistake';
        if (held.settled !== undefined) return held.settled === move.amount ? 'ok' : 'conflict';
        if (move.amount > held.amount) return 'mistake';
        held.settled = move.amount;
        this.#spend(held.user, move.amount);
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
    }
  }

  #user(who: number): ModelUser {
    const user = this.users[who];
    if (user === undefined) throw new Error(`There is no user ${who}`);
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

  /** Given credits first, and of them those first that end first. */
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

  #enlarge(move: Extract<Move, { move: 'extend' | 'grow' }>): Outcome {
    const held = this.holds.get(move.hold);
    if (!held) return 'mistake';
    if (held.settled !== undefined) return 'conflict';
    const wanted = move.move === 'grow' ? held.amount + move.by : (move.amount ?? 0n);
    const larger = wanted > held.amount ? wanted : held.amount;
    if (larger - held.amount > this.#available(held.user)) return 'insufficient_funds';
    held.amount = larger;
    held.minutes = Math.max(held.minutes, move.minutes ?? 0);
    return 'ok';
  }
}
