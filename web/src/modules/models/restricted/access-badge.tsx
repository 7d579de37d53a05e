import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { Badge, type Tone } from '../../../ui/badge.tsx';

const badges: Record<RestrictedModel['access'], { tone: Tone; label: string }> = {
  none: { tone: 'neutral', label: 'No access' },
  requested: { tone: 'info', label: 'Requested' },
  granted: { tone: 'good', label: 'Granted' },
  refused: { tone: 'bad', label: 'Refused' },
};

/** Status of an access request. */
export function AccessBadge({ access }: Pick<RestrictedModel, 'access'>) {
  const { tone, label } = badges[access];
  return <Badge tone={tone}>{label}</Badge>;
}
