import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { readSnapshot, shareSnapshot } from '../../../platform/db/read-snapshot.ts';
import { findChainHead } from './chain-queries.ts';
import { checkUsage } from './check-usage.ts';
import {
  type AccountProof,
  countSealed,
  countWrongNewPortions,
  countWrongPortions,
  countWrongSettlements,
  countWrongTotals,
  digestTotals,
  findLastVerified,
  findSealHash,
  proveAccounts,
  type Verified,
  type Wrong,
} from './proof-queries.ts';
import { type Chain, recomputeChain } from './recompute-chain.ts';

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

/** A full proof works on two cores of PostgreSQL: it needs as many connections. */
export const SNAPSHOT_CONNECTIONS = 2;

/**
 * Proves the books, in one snapshot of the database: recomputes every balance from the transfers
 * and the holds, and every seal from the transfers. It takes as long as the book is thick, and
 * always as much memory: call it on `SNAPSHOT_CONNECTIONS` connections without a limit of time.
 */
export async function verifyLedger(db: Database): Promise<LedgerReport> {
  return shareSnapshot(db, SNAPSHOT_CONNECTIONS, async ([tx, ...others]) => {
    if (tx === undefined) throw new Error('A proof needs a connection');
    const head = await findChainHead(tx);
    const sums = proveSums(tx, head?.seq ?? 0n);
    const connections = [sums.then(() => tx), ...others];
    const chain = await recomputeChain(connections, { after: 0n, upTo: head?.seq ?? 0n });
    const { accounts, sealedTransfers, checks } = await sums;
    return toReport(accounts, {
      sealedTransfers,
      ...(await endOf(tx, head, chain)),
      checks: [...checks, checkChain(chain, `All ${sealedTransfers} seals`)],
    });
  });
}

/** All but the chain, each thing on its own: sums of all transfers, settlements, portions and usage. */
async function proveSums(
  tx: Transaction,
  headSeq: bigint,
): Promise<{ accounts: AccountProof; sealedTransfers: number; checks: Check[] }> {
  const wrongTotals = await countWrongTotals(tx, headSeq);
  // Totals that were just proven are as good as the transfers, which need not be summed again.
  const accounts = await proveAccounts(tx, wrongTotals === 0 ? headSeq : null);
  return {
    accounts,
    sealedTransfers: await countSealed(tx, { counted: false }),
    checks: [
      checkSettlements(await countWrongSettlements(tx, null), 'Every settled hold has its one transfer'),
      checkPortions(await countWrongPortions(tx), 'Given credits came and went as the transfers say'),
      await checkUsage(tx, null),
      checkTotals(wrongTotals),
    ],
  };
}

/**
 * The same from the last verified seal on: the transfers since then with what they settled, brought or closed. Of what was
 * proven before it reads the sealer's sums alone, which must be what they were at that seal: its work grows with the
 * accounts, and not with the transfers before. Before the first full proof there is nothing to continue from: null.
 */
export async function verifyOnwards(db: Database): Promise<LedgerReport | null> {
  return readSnapshot(db, async (tx) => {
    const start = await findLastVerified(tx);
    if (start === undefined) return null;
    const head = await findChainHead(tx);
    const headSeq = head?.seq ?? 0n;
    const accounts = await proveAccounts(tx, headSeq);
    const wrongSettlements = await countWrongSettlements(tx, start.seq);
    const isKept = (await findSealHash(tx, start.seq)) === start.hash;
    const chain = isKept
      ? await recomputeChain([tx], { after: start.seq, upTo: headSeq })
      : { broken: `The seal ${start.seq} is not the one that was verified`, skipped: 0 };
    const digest = await digestTotals(tx, { seq: start.seq, headSeq });
    return toReport(accounts, {
      sealedTransfers: await countSealed(tx, { counted: true }),
      ...(await endOf(tx, head, chain)),
      checks: [
        checkSettlements(wrongSettlements, 'Every settlement since the last proof has its hold'),
        checkPortions(
          await countWrongNewPortions(tx, start.seq),
          'Given credits since the last proof came as the transfers say',
        ),
        await checkUsage(tx, start.seq),
        checkTotals(digest === start.totalsDigest ? 0 : 1),
        checkChain(chain, `The seals since transfer ${start.seq}`),
      ],
    });
  });
}

/** The end of the chain, and where the next proof continues if all checks hold; null where it is broken or nothing is sealed. */
async function endOf(
  tx: Transaction,
  head: { seq: bigint; hash: string } | undefined,
  chain: Chain,
): Promise<Pick<LedgerReport, 'chainHead' | 'verified'>> {
  if (head === undefined || chain.broken !== null) return { chainHead: null, verified: null };
  const totalsDigest = await digestTotals(tx, { seq: head.seq, headSeq: head.seq });
  return { chainHead: head.hash, verified: { ...head, totalsDigest } };
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
      `What is held is the sum of all open holds (${openHolds})`,
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

function checkPortions(wrong: number, right: string): Check {
  return {
    name: 'portions',
    ok: wrong === 0,
    detail:
      wrong === 0
        ? right
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

function checkChain({ broken, skipped }: Chain, which: string): Check {
  if (skipped > 0)
    return { name: 'chain', ok: false, detail: `${skipped} transfers before the newest seal have none` };
  return {
    name: 'chain',
    ok: broken === null,
    detail: broken ?? `${which} are what their transfers hash to`,
  };
}
