import { formatBgl } from '@bakehouse/contract/money';
import { Gauge, type Registry } from 'prom-client';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { shareSnapshot } from '../../../platform/db/read-snapshot.ts';
import { type Chain, recomputeChain } from './chain.ts';
import { findChainHead, findSealHash, findUnsealedSeconds, type Place } from './chain-queries.ts';
import { type Check, checkUsage } from './check-usage.ts';
import {
  type AccountProof,
  countSeals,
  countWrongPortions,
  countWrongSettlements,
  countWrongTotals,
  findLastProof,
  lockProofs,
  proveAccounts,
  startProof,
  tryLockProofs,
  upsertLastProof,
} from './proof-queries.ts';

/** A proof keeps two cores of PostgreSQL busy, with one connection for each. */
const SNAPSHOT_CONNECTIONS = 2;

/** Another connection is for the transaction that locks proofs and stores the result. */
export const PROOF_CONNECTIONS = SNAPSHOT_CONNECTIONS + 1;

type LedgerReport = {
  ok: boolean;
  checks: Check[];
  accounts: number;
  sumOfBalances: bigint;
  transfers: number;
  openHolds: number;
  sealedTransfers: number;
  /**
   * The newest seal; null if the chain is broken or empty. A copy of its hash outside of the database proves
   * later that no transfers were removed from the end.
   */
  head: Place | null;
};

/**
 * Verifies the ledger in one snapshot of the database. Recomputes every balance from the transfers and holds,
 * and every seal from the transfers. `proven` is a seal that an earlier proof has verified, so it must still
 * exist. Needs `SNAPSHOT_CONNECTIONS` connections without a timeout. Uses constant memory.
 */
export async function verifyLedger(db: Database, proven: Place | null = null): Promise<LedgerReport> {
  return shareSnapshot(db, SNAPSHOT_CONNECTIONS, async ([tx, ...others]) => {
    if (tx === undefined) throw new Error('Ledger proof has no connection');
    const head = (await findChainHead(tx)) ?? null;
    const isKept = proven === null || (await findSealHash(tx, proven.seq)) === proven.hash;
    const sums = proveSums(tx, head?.seq ?? 0n);
    const chain = await recomputeChain([sums.then(() => tx), ...others], { upTo: head?.seq ?? 0n });
    const { accounts, sealedTransfers, checks } = await sums;
    if (!isKept) chain.broken ??= `The seal of transfer ${proven.seq} differs from the one verified before`;
    const all = [...checkAccounts(accounts), ...checks, checkChain(chain, sealedTransfers)];
    return {
      ok: all.every(({ ok }) => ok),
      checks: all,
      accounts: accounts.accounts,
      sumOfBalances: accounts.sumOfBalances,
      transfers: accounts.transfers,
      openHolds: accounts.openHolds,
      sealedTransfers,
      head: chain.broken === null ? head : null,
    };
  });
}

/** Verifies everything except the chain: sums, settlements, portions of given credits, and usage. */
async function proveSums(
  tx: Transaction,
  headSeq: bigint,
): Promise<{ accounts: AccountProof; sealedTransfers: number; checks: Check[] }> {
  const wrongTotals = await countWrongTotals(tx, headSeq);
  // If the totals were verified, use them instead of summing all transfers again.
  const accounts = await proveAccounts(tx, wrongTotals === 0 ? headSeq : null);
  const wrongSettlements = await countWrongSettlements(tx);
  const wrongPortions = await countWrongPortions(tx);
  return {
    accounts,
    sealedTransfers: await countSeals(tx),
    checks: [
      check('settlements', wrongSettlements, {
        right: 'Every settled hold has exactly one transfer',
        wrong: `${wrongSettlements} holds and transfers disagree on the settled amount`,
      }),
      check('portions', wrongPortions, {
        right: 'Promotional credits match the transfers',
        wrong: `${wrongPortions} accounts or portions have promotional credits that do not match the transfers`,
      }),
      await checkUsage(tx),
      check('totals', wrongTotals, {
        right: 'The totals of sealed transfers are correct',
        wrong: `${wrongTotals} totals of sealed transfers are wrong`,
      }),
    ],
  };
}

function check(name: string, faults: number, { right, wrong }: { right: string; wrong: string }): Check {
  return { name, ok: faults === 0, detail: faults === 0 ? right : wrong };
}

function checkAccounts(proof: AccountProof): Check[] {
  const checkUsers = (name: 'balances' | 'holds' | 'given' | 'available', right: string, wrong: string) => {
    const { count, first } = proof[name];
    return check(name, count, { right, wrong: `${first} ${wrong} (${count} such accounts)` });
  };
  return [
    {
      name: 'sum',
      ok: proof.sumOfBalances === 0n,
      detail: `All ${proof.accounts} balances sum to ${formatBgl(proof.sumOfBalances)} BGL`,
    },
    checkUsers(
      'balances',
      'Every balance is the sum of its transfers',
      'has a balance that differs from the sum of its transfers',
    ),
    checkUsers(
      'holds',
      `Held credits equal the sum of all open holds (${proof.openHolds})`,
      'has a held amount that differs from the sum of its open holds',
    ),
    checkUsers(
      'given',
      'Promotional credits equal the sum of the remaining portions',
      'has promotional credits that differ from the sum of its remaining portions',
    ),
    checkUsers(
      'available',
      'No user has spent or held more than their balance',
      'has spent or held more than its balance',
    ),
  ];
}

function checkChain({ broken, skipped }: Chain, seals: number): Check {
  if (skipped > 0)
    return { name: 'chain', ok: false, detail: `${skipped} transfers before the newest seal have no seal` };
  return {
    name: 'chain',
    ok: broken === null,
    detail: broken ?? `All ${seals} seals match the hashes of their transfers`,
  };
}

/**
 * Verifies the ledger and stores the result. Needs `PROOF_CONNECTIONS` connections without a timeout. Waits
 * for the proof of another process, after calling `onWait`.
 */
export async function proveLedger(db: Database, onWait?: () => void): Promise<LedgerReport> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) {
      onWait?.();
      await lockProofs(tx);
    }
    return prove(db, tx);
  });
}

/** Verifies the ledger if the last proof is old. Otherwise, or if another proof is running, returns null. */
export async function verifyLedgerIfStale(db: Database): Promise<LedgerReport | null> {
  return inTransaction(db, async (tx) => {
    if (!(await tryLockProofs(tx))) return null;
    const last = await findLastProof(tx);
    return last && !last.isOld ? null : prove(db, tx);
  });
}

/** Verifies the ledger on other connections of `db`, while `tx` holds the lock on proofs. */
async function prove(db: Database, tx: Transaction): Promise<LedgerReport> {
  const provedAt = await startProof(tx);
  const proven = (await findLastProof(tx))?.proven ?? null;
  const begunMs = performance.now();
  const report = await verifyLedger(db, proven);
  await upsertLastProof(tx, {
    provedAt,
    seconds: (performance.now() - begunMs) / 1000,
    proven: report.ok ? report.head : proven,
    report: {
      sum_of_balances: formatBgl(report.sumOfBalances),
      transfers: report.transfers,
      open_holds: report.openHolds,
      sealed_transfers: report.sealedTransfers,
      chain_head: report.head?.hash ?? null,
      checks: report.checks,
    },
  });
  return report;
}

/** Adds the ledger's gauges to the metrics. Each scrape reads them from the database. */
export function measureLedger(registry: Registry, db: Database): void {
  new Gauge({
    name: 'bakehouse_ledger_proof_ok',
    help: '1 where the last proof of the ledger has found nothing wrong, else 0; nothing before the first proof',
    registers: [registry],
    async collect() {
      const proof = await findLastProof(db);
      this.remove();
      if (proof) this.set(proof.report.checks.every(({ ok }) => ok) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bakehouse_oldest_unsealed_transfer_seconds',
    help: 'Age of the oldest transfer that has no place in the hash chain yet; 0 where all have one',
    registers: [registry],
    async collect() {
      this.set(await findUnsealedSeconds(db));
    },
  });
}
