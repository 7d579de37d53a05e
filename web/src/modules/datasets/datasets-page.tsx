import { CloudDownload, Database, FileText, Plus } from 'lucide-react';
import { storeDropped } from '../../lib/files/dropped-folder.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageDrop } from '../../ui/page-drop.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { AssetList } from './asset-list.tsx';

export function DatasetsPage() {
  const sheets = useSheets();
  const create = (
    <Button variant="primary" onClick={() => sheets.open('create-dataset')}>
      <Plus aria-hidden />
      Create Dataset
    </Button>
  );
  const actions = (
    <>
      <ButtonLink to="/model-hub" search={{ type: 'dataset' }}>
        <CloudDownload aria-hidden />
        Model hub
      </ButtonLink>
      <ButtonLink to="/drafts">
        <FileText aria-hidden />
        Generate from documents
      </ButtonLink>
      {create}
    </>
  );
  return (
    <ResourcePage title="My Datasets" description="Files to train your models on." actions={actions}>
      <PageDrop
        label="Drop to create a dataset"
        onDrop={(folder) => sheets.open('create-dataset', { dropped: storeDropped(folder) })}
      >
        <AssetList
          kind="dataset"
          empty={{
            icon: <Database aria-hidden />,
            title: 'No datasets yet',
            description: 'A dataset holds the rows or pictures that you fine-tune on.',
            action: create,
          }}
        />
      </PageDrop>
    </ResourcePage>
  );
}
