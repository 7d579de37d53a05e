import type { Asset } from '@bakehouse/contract/assets';
import { loadable } from '../../../lib/loadable.tsx';
import { DeferredPart } from '../../../ui/deferred-part.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import type { Tab } from '../../../ui/tabs.tsx';
import type { HistoryPlace } from './history-tab.tsx';

const HistoryTab = loadable(async () => (await import('./history-tab.tsx')).HistoryTab);

/** The tab with the commits of a dataset or model. */
export const historyTab = (
  asset: Asset,
  place: HistoryPlace,
  onPlace: (place: HistoryPlace) => void,
): Tab => ({
  value: 'history',
  label: 'History',
  content: (
    <DeferredPart pending={<ListSkeleton rows={4} rowHeight={57} />}>
      <HistoryTab asset={asset} place={place} onPlace={onPlace} />
    </DeferredPart>
  ),
});
