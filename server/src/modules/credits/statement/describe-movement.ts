import type { OpenHold, StatementTransfer } from './statement-queries.ts';

/**
 * Returns the text of a statement line. The other user of a send or an invitation has the current name:
 * sealed transfers contain only ids, so that a deletion removes the name.
 */
export function describeMovement(movement: StatementTransfer | OpenHold, side: 'payer' | 'receiver'): string {
  const { kind, refs, description } = movement;
  const counterpart = 'counterpart' in movement ? movement.counterpart : null;
  if (counterpart === null) return description;
  const name = counterpart.isDeleted ? 'a deleted user' : counterpart.username;
  if (kind === 'transfer') return side === 'payer' ? `Sent to ${name}` : `Received from ${name}`;
  return refs.inviter_id === undefined ? `Invitation of ${name}` : `Invitation by ${name}`;
}
