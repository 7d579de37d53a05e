import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { FIRST_HASH, hashTransfer } from './hash-transfer.ts';
import {
  type AccountProof,
  checkSeals,
  countSealed,
  countSkipped,
  countWrongPortions,
  countWrongSettlements,
  countWrongTotals,
  digestTotals,
  findLastVerified,
  findSeal,
  findSealHash,
  proveAccounts,
  type Verified,
  type Wrong,
} from './proof-queries.ts';
import { findChainHead } from './queries.ts';
import { checkUsage } from './usage/check-usage.ts';

export type Check = { name: string; ok: boolean; detail: string };

export type LedgerReport = {
  ok: boolean;
  checks: Check[];
  accounts: number;
  sumOfBalances: bigint;
  transfers: number;
  openHolds: number;
  sealedTransfers: number;
  /** Hash of the newest seal. Whoever keeps a copy elsewhere can also prove that no end was cut off. */
  chainHead: string | null;
  /** Where the next proof continues if all checks hold; null where nothing is sealed. */
  verified: Verified | null;
};

/** Numbers of seals that are recomputed by one query. */
const BATCH = 50_000n;

/**
 * Proves the books, in one snapshot of the database: recomputes every balance from the transfers
 * and the holds, and every seal from the transfers. It takes as long as the book is thick, and
 * always as much memory: call it on a connection without a limit of time.
 */
export async function verifyLedger(db: Database): Promise<LedgerReport> {
  return readSnapshot(db, async (tx) => {
    const headSeq = (await findChainHead(tx))?.seq ?? 0n;
    const accounts = await proveAccounts(tx, null);
    const wrongSettlements = await countWrongSettlements(tx, null);
    const wrongPortions = await countWrongPortions(tx);
    const wrongTotals = await countWrongTotals(tx, headSeq);
    const skipped = await countSkipped(tx, { afterSeq: 0n, headSeq });
    const chain = await recomputeChain(tx, { start: { seq: 0n, hash: FIRST_HASH }, headSeq });
    const sealedTransfers = await countSealed(tx, { counted: false });
    return toReport(accounts, {
      sealedTransfers,
      chainHead: chain.head,
      verified: await verifiedAt(tx, headSeq, chain.head),
      checks: [
        checkSettlements(wrongSettlements, 'Every settled hold has its one transfer'),
        checkPortions(wrongPortions),
        await checkUsage(tx),
        checkTotals(wrongTotals),
        checkChain(chain, skipped, `All ${sealedTransfers} seals`),
      ],
    });
  });
}

/**
 * The same from the last verified seal on, with work that does not grow with what was proven before: the
 * transfers since then, and of sums what the sealer keeps, which must be what they were at that seal. Before
 * the first full proof there is nothing to continue from: null.
 */
export async function verifyOnwards(db: Database): Promise<LedgerReport | null> {
  return readSnapshot(db, async (tx) => {
    const start = await findLastVerified(tx);
    if (start === undefined) return null;
    const headSeq = (await findChainHead(tx))?.seq ?? 0n;
    const accounts = await proveAccounts(tx, headSeq);
    const wrongSettlements = await countWrongSettlements(tx, start.seq);
    const skipped = await countSkipped(tx, { afterSeq: start.seq, headSeq });
    const isKept = (await findSealHash(tx, start.seq)) === start.hash;
    const chain = isKept
      ? await recomputeChain(tx, { start, headSeq })
      : { head: null, broken: `The seal ${start.seq} is not the one that was verified` };
    const digest = await digestTotals(tx, { seq: start.seq, headSeq });
    const sealedTransfers = await countSealed(tx, { counted: true });
    return toReport(accounts, {
      sealedTransfers,
      chainHead: chain.head,
      verified: await verifiedAt(tx, headSeq, chain.head),
      checks: [
        checkSettlements(wrongSettlements, 'Every settlement since the last proof has its hold'),
        checkTotals(digest === start.totalsDigest ? 0 : 1),
        checkChain(chain, skipped, `The seals since transfer ${start.seq}`),
      ],
    });
  });
}

/** Where the next proof continues if all checks hold; null where nothing is sealed. */
async function verifiedAt(tx: Transaction, headSeq: bigint, head: string | null): Promise<Verified | null> {
  if (head === null || headSeq === 0n) return null;
  return { seq: headSeq, hash: head, totalsDigest: await digestTotals(tx, { seq: headSeq, headSeq }) };
}

function toReport(
  proof: AccountProof,
  { checks, ...rest }: Pick<LedgerReport, 'checks' | 'sealedTransfers' | 'chainHead' | 'verified'>,
): LedgerReport {
  const { accounts, sumOfBalances, transfers, openHolds } = proof;
  const all = [
    {
      name: 'sum',
      ok: sumOfBalances === 0n,
      detail: `All ${accounts} balances sum to ${formatBgl(sumOfBalances)} BGL`,
    },
    checkUsers(
      'balances',
      proof.wrongBalances,
      'Every balance is the sum of its transfers',
      'does not have the balance that its transfers sum to',
    ),
    checkUsers(
      'holds',
      proof.wrongHolds,
      `What is held is the sum of the ${openHolds} open holds`,
      'does not hold what its open holds sum to',
    ),
    checkUsers(
      'given',
      proof.wrongGiven,
      'What is given is the sum of the portions that are left',
      'does not have the given credits that are left of the portions',
    ),
    checkUsers(
      'available',
      proof.overspent,
      'No user has spent or promised more than there was',
      'has spent or promised more than there was',
    ),
    ...checks,
  ];
  return {
    ok: all.every((check) => check.ok),
    checks: all,
    accounts,
    sumOfBalances,
    transfers,
    openHolds,
    ...rest,
  };
}

function checkUsers(name: string, { first, count }: Wrong, right: string, wrong: string): Check {
  return {
    name,
    ok: count === 0,
    detail: count === 0 ? right : `${first} ${wrong} (${count} such accounts)`,
  };
}

function checkSettlements(wrong: number, right: string): Check {
  return {
    name: 'settlements',
    ok: wrong === 0,
    detail: wrong === 0 ? right : `${wrong} holds and transfers do not agree on what was settled`,
  };
}

function checkPortions(wrong: number): Check {
  return {
    name: 'portions',
    ok: wrong === 0,
    detail:
      wrong === 0
        ? 'Given credits came and went as the transfers say'
        : `${wrong} accounts or portions do not have the given credits that the transfers say`,
  };
}

function checkTotals(wrong: number): Check {
  return {
    name: 'totals',
    ok: wrong === 0,
    detail:
      wrong === 0
        ? 'The totals of what is sealed are the sums of the sealed transfers'
        : `${wrong} totals of what is sealed are not the sums of their transfers`,
  };
}

type Chain = { head: string | null; broken: string | null };

function checkChain({ broken }: Chain, skipped: number, which: string): Check {
  if (skipped > 0)
    return { name: 'chain', ok: false, detail: `${skipped} transfers before the newest seal have none` };
  return {
    name: 'chain',
    ok: broken === null,
    detail: broken ?? `${which} are what their transfers hash to`,
  };
}

/** Recomputes the seals after `start`; the head is null where the chain is empty or broken. */
async function recomputeChain(
  tx: Transaction,
  { start, headSeq }: { start: { seq: bigint; hash: string }; headSeq: bigint },
): Promise<Chain> {
  let place = start;
  while (place.seq < headSeq) {
    const end = place.seq + BATCH;
    const upTo = end < headSeq ? end : headSeq;
    const { lastHash, doubtful } = await checkSeals(tx, { after: place, upTo });
    if (doubtful === null) {
      place = { seq: upTo, hash: lastHash ?? place.hash };
      continue;
    }
    const judged = await judgeSeal(tx, doubtful);
    if ('broken' in judged) return { head: null, broken: judged.broken };
    place = judged;
  }
  return { head: headSeq === 0n ? null : place.hash, broken: null };
}

/** What is wrong with the seal; or the seal, where it is right after all. */
async function judgeSeal(
  tx: Transaction,
  seq: bigint,
): Promise<{ broken: string } | { seq: bigint; hash: string }> {
  const { hash, previous, transfer } = await findSeal(tx, seq);
  if (transfer === null) return { broken: `Transfer ${seq} was sealed and is gone` };
  if (hashTransfer(previous ?? FIRST_HASH, transfer) === hash) return { seq, hash };
  return { broken: `The chain breaks at transfer ${seq}: it is not what was sealed` };
}
