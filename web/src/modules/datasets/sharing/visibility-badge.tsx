import type { AssetSummary } from '@bakehouse/contract/assets';
import { Globe, Lock, Users } from 'lucide-react';
import { Badge } from '../../../ui/badge.tsx';

/** Shows who else sees an asset. Renders nothing for an asset that an operator granted to the user. */
export function VisibilityBadge({ asset, isOwn }: { asset: AssetSummary; isOwn: boolean }) {
  if (asset.is_published)
    return (
      <Badge tone="info">
        <Globe aria-hidden className="size-3" />
        Published
      </Badge>
    );
  if (asset.is_shared)
    return (
      <Badge tone="accent">
        <Users aria-hidden className="size-3" />
        {isOwn ? 'Shared' : 'Shared with you'}
      </Badge>
    );
  if (!isOwn) return null;
  return (
    <Badge>
      <Lock aria-hidden className="size-3" />
      Private
    </Badge>
  );
}
