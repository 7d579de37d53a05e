import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';
import { type AccountSums, countLedger, findSealBefore, listAccountSums, listSeals } from './queries.ts';

export type Check = { name: string; ok: boolean; detail: string };

export type LedgerReport = {
  ok: boolean;
  checks: Check[];
  accounts: AccountSums[];
  transfers: number;
  openHolds: number;
  sealedTransfers: number;
  /** Hash of the newest seal. Whoever keeps a copy elsewhere can also prove that no end was cut off. */
  chainHead: string | null;
};

const BATCH = 5000;

/**
 * Proves the books, in one snapshot of the database: recomputes every balance from the transfers
 * and the holds, and every seal from the transfers. `sealsMax` recomputes only the newest seals.
 */
export async function verifyLedger(db: Database, options: { sealsMax?: number } = {}): Promise<LedgerReport> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const accounts = await listAccountSums(tx);
      const counts = await countLedger(tx);
      const chain = await checkChain(tx, { sealsMax: options.sealsMax, skipped: counts.skipped_transfers });
      const checks = [
        checkSum(accounts),
        checkBalances(accounts),
        checkHolds(accounts, counts.open_holds),
        checkAvailable(accounts),
        checkSettlements(counts.wrong_settlements),
        chain.check,
      ];
      return {
        ok: checks.every((check) => check.ok),
        checks,
        accounts,
        transfers: counts.transfers,
        openHolds: counts.open_holds,
        sealedTransfers: counts.sealed_transfers,
        chainHead: chain.head,
      };
    });
}

/** A user's balance is what the account says; a system account's is the sum of its transfers. */
export function accountBalance(account: AccountSums): bigint {
  return (
    (account.credits_posted ?? account.credits_summed) - (account.debits_posted ?? account.debits_summed)
  );
}

export function sumOfBalances(accounts: AccountSums[]): bigint {
  return accounts.reduce((sum, account) => sum + accountBalance(account), 0n);
}

function checkSum(accounts: AccountSums[]): Check {
  const sum = sumOfBalances(accounts);
  return {
    name: 'sum',
    ok: sum === 0n,
    detail: `All ${accounts.length} balances sum to ${formatBgl(sum)} BGL`,
  };
}

function checkBalances(accounts: AccountSums[]): Check {
  return checkUsers(
    'balances',
    accounts,
    (a) => a.credits_posted === a.credits_summed && a.debits_posted === a.debits_summed,
    'Every balance is the sum of its transfers',
    'does not have the balance that its transfers sum to',
  );
}

function checkHolds(accounts: AccountSums[], openHolds: number): Check {
  return checkUsers(
    'holds',
    accounts,
    (a) => a.debits_pending === a.pending_summed,
    `What is held is the sum of the ${openHolds} open holds`,
    'does not hold what its open holds sum to',
  );
}

function checkAvailable(accounts: AccountSums[]): Check {
  return checkUsers(
    'available',
    accounts,
    (a) => a.credits_summed - a.debits_summed - a.pending_summed >= 0n,
    'No user has spent or promised more than there was',
    'has spent or promised more than there was',
  );
}

function checkUsers(
  name: string,
  accounts: AccountSums[],
  isRight: (account: AccountSums) => boolean,
  right: string,
  wrong: string,
): Check {
  const bad = accounts.filter((account) => account.kind === 'user' && !isRight(account));
  const [first] = bad;
  return { name, ok: !first, detail: first ? `${first.id} ${wrong} (${bad.length} such accounts)` : right };
}

function checkSettlements(wrong: number): Check {
  return {
    name: 'settlements',
    ok: wrong === 0,
    detail:
      wrong === 0
        ? 'Every settled hold has its one transfer'
        : `${wrong} holds and transfers do not agree on what was settled`,
  };
}

async function checkChain(
  tx: Transaction,
  { sealsMax, skipped }: { sealsMax?: number; skipped: number },
): Promise<{ check: Check; head: string | null }> {
  const start = sealsMax === undefined ? undefined : await findSealBefore(tx, sealsMax);
  let seq = start?.seq ?? 0n;
  let hash = start?.hash ?? FIRST_HASH;
  let recomputed = 0;
  const broken = (detail: string) => ({ check: { name: 'chain', ok: false, detail }, head: null });

  if (skipped > 0) return broken(`${skipped} transfers before the newest seal have none`);
  for (;;) {
    const seals = await listSeals(tx, { after: seq, limit: BATCH });
    for (const seal of seals) {
      if (seal.transfer === null) return broken(`Transfer ${seal.seq} was sealed and is gone`);
      hash = hashTransfer(hash, seal.transfer);
      if (hash !== seal.hash)
        return broken(`The chain breaks at transfer ${seal.seq}: it is not what was sealed`);
      seq = seal.seq;
    }
    recomputed += seals.length;
    if (seals.length < BATCH) break;
  }
  const which = start ? `The newest ${recomputed} seals` : `All ${recomputed} seals`;
  return {
    check: { name: 'chain', ok: true, detail: `${which} are what their transfers hash to` },
    head: seq === 0n ? null : hash,
  };
}
