import type { OpenHold, StatementTransfer } from './statement-queries.ts';

/**
 * What a line of the statement says. The other user of a send or an invitation is named as the account has it now: under
 * the seal stand ids, which a deletion leaves behind without a name.
 */
export function describeMovement(movement: StatementTransfer | OpenHold, side: 'payer' | 'receiver'): string {
  const { kind, refs, description } = movement;
  const counterpart = 'counterpart' in movement ? movement.counterpart : null;
  if (counterpart === null) return description;
  const name = counterpart.isDeleted ? 'a deleted user' : counterpart.username;
  if (kind === 'transfer') return side === 'payer' ? `Sent to ${name}` : `Received from ${name}`;
  return refs.inviter_id === undefined ? `Invitation of ${name}` : `Invitation by ${name}`;
}
