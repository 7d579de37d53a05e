import type { Asset } from '@bakehouse/contract/assets';
import { getRouteApi } from '@tanstack/react-router';
import { Images, Sparkles } from 'lucide-react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button } from '../../ui/button.tsx';
import { type Tab, Tabs } from '../../ui/tabs.tsx';
import { AssetPage } from './asset-page.tsx';
import { AssetCard } from './card/asset-card.tsx';
import { AssetFiles } from './files/asset-files.tsx';
import { DATA_FILES_HINT } from './files/data-file.ts';
import { fileToTrainOn, hasPictures, mayTrainText, selectedDataFile } from './files/selected-data-file.ts';
import { useUploads } from './files/uploads/uploads.ts';
import { RowsPreview } from './files/viewer/rows-preview.tsx';
import { historyTab } from './history/history-tab.tsx';
import { IpfsTab } from './ipfs/ipfs-tab.tsx';
import { PicturesTab } from './pictures/pictures-tab.tsx';
import { SqlTab } from './sql/sql-tab.tsx';

const route = getRouteApi('/app/dataset/$id/description');

export function DatasetPage() {
  const { id } = route.useParams();
  const { tab: chosen, query, commit, folder, ...place } = route.useSearch();
  const navigate = route.useNavigate();
  // Files show the progress and the failures of uploads.
  const isUploading = useUploads(id).length > 0;
  const tabOf = (asset: Asset) => chosen ?? (isUploading ? 'files' : contentTab(asset));
  return (
    <AssetPage
      id={id}
      kind="dataset"
      // Prefers the file whose rows are displayed.
      actions={(asset) => <TrainButtons asset={asset} file={tabOf(asset) === 'rows' ? place.file : null} />}
    >
      {(asset, canChange) => (
        <Tabs
          value={tabOf(asset)}
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
            ...(hasPictures(asset) ? [picturesTab(asset, canChange)] : []),
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

/** Returns the tab that shows what the dataset contains. */
function contentTab(asset: Asset): string {
  if (hasPictures(asset)) return 'pictures';
  return selectedDataFile(asset, undefined) === undefined ? 'files' : 'rows';
}

type TrainProps = { asset: Asset; file: string | undefined | null };

/** Trains an image model on pictures, and a text model on rows. `file` is the displayed one, null if none. */
function TrainButtons({ asset, file }: TrainProps) {
  const sheets = useSheets();
  const dataset = asset.dataset_id;
  const dataFile = file === null ? undefined : fileToTrainOn(asset, file);
  const forPictures = hasPictures(asset);
  return (
    <>
      {forPictures && (
        <Button variant="primary" onClick={() => sheets.open('train-lora', { dataset })}>
          <Images aria-hidden />
          Train a LoRA on these
        </Button>
      )}
      {mayTrainText(asset) && (
        <Button
          variant={forPictures ? 'secondary' : 'primary'}
          onClick={() => sheets.open('create-model', { dataset, dataFile, settings: 'suggested' })}
        >
          <Sparkles aria-hidden />
          Fine-tune on this
        </Button>
      )}
    </>
  );
}
