import type { Asset } from '@bakehouse/contract/assets';
import { getRouteApi } from '@tanstack/react-router';
import { Sparkles } from 'lucide-react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button } from '../../ui/button.tsx';
import { type Tab, Tabs } from '../../ui/tabs.tsx';
import { AssetPage } from './asset-page.tsx';
import { AssetCard } from './card/asset-card.tsx';
import { AssetFiles } from './files/asset-files.tsx';
import { DATA_FILES_HINT } from './files/data-file.ts';
import { fileToTrainOn, mayTrainText } from './files/selected-data-file.ts';
import { RowsPreview } from './files/viewer/rows-preview.tsx';
import { historyTab } from './history/history-tab.tsx';
import { IpfsTab } from './ipfs/ipfs-tab.tsx';
import { PicturesTab } from './pictures/pictures-tab.tsx';
import { SqlTab } from './sql/sql-tab.tsx';

/** Matches files that have thumbnails. */
const PICTURE = /\.(png|jpe?g|webp)$/i;

const route = getRouteApi('/app/dataset/$id/description');

export function DatasetPage() {
  const { id } = route.useParams();
  const { tab = 'files', query, commit, folder, ...place } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <AssetPage
      id={id}
      kind="dataset"
      actions={(asset) =>
        mayTrainText(asset) && (
          // Prefers the file whose rows are displayed.
          <FineTune dataset={id} dataFile={tab === 'rows' ? fileToTrainOn(asset, place.file) : undefined} />
        )
      }
    >
      {(asset, canChange) => (
        <Tabs
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
          tabs={[
            {
              value: 'files',
              label: `Files (${formatNumber(asset.file_count)})`,
              content: (
                <AssetFiles
                  asset={asset}
                  canChange={canChange}
                  hint={DATA_FILES_HINT}
                  onPreview={(path) => void navigate({ search: { tab: 'rows', file: path } })}
                />
              ),
            },
            {
              value: 'rows',
              label: 'Rows',
              content: (
                <RowsPreview
                  asset={asset}
                  canChange={canChange}
                  place={place}
                  onPlace={(next) =>
                    void navigate({ search: { tab: 'rows', ...next }, replace: true, resetScroll: false })
                  }
                />
              ),
            },
            ...(asset.files.some(({ path }) => PICTURE.test(path)) ? [picturesTab(asset, canChange)] : []),
            sqlTab(
              asset,
              query,
              (next) =>
                void navigate({ search: { tab: 'sql', query: next }, replace: true, resetScroll: false }),
            ),
            cardTab(asset, canChange),
            historyTab(
              asset,
              { commit, folder },
              (next) => void navigate({ search: { tab: 'history', ...next }, resetScroll: false }),
            ),
            ipfsTab(asset, canChange),
          ]}
        />
      )}
    </AssetPage>
  );
}

const cardTab = (asset: Asset, canChange: boolean): Tab => ({
  value: 'card',
  label: 'Card',
  content: <AssetCard asset={asset} canChange={canChange} />,
});

const picturesTab = (asset: Asset, canChange: boolean): Tab => ({
  value: 'pictures',
  label: 'Pictures',
  content: <PicturesTab asset={asset} canChange={canChange} />,
});

const sqlTab = (asset: Asset, query: string | undefined, onQuery: (query: string) => void): Tab => ({
  value: 'sql',
  label: 'SQL',
  content: <SqlTab asset={asset} query={query} onQuery={onQuery} />,
});

const ipfsTab = (asset: Asset, canChange: boolean): Tab => ({
  value: 'ipfs',
  label: 'IPFS',
  content: <IpfsTab asset={asset} canChange={canChange} />,
});

function FineTune(prefilled: { dataset: string; dataFile: string | undefined }) {
  const sheets = useSheets();
  return (
    <Button
      variant="primary"
      onClick={() => sheets.open('create-model', { ...prefilled, settings: 'suggested' })}
    >
      <Sparkles aria-hidden />
      Fine-tune on this
    </Button>
  );
}
