import { Box, CloudDownload, Lock, Plus } from 'lucide-react';
import { storeDropped } from '../../lib/files/dropped-folder.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageDrop } from '../../ui/page-drop.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { AssetList } from '../datasets/asset-list.tsx';
import { UnfinishedBadge } from '../fine-tuning/runs/unfinished/unfinished-badge.tsx';

export function ModelsPage() {
  const sheets = useSheets();
  const create = (
    <Button variant="primary" onClick={() => sheets.open('create-model')}>
      <Plus aria-hidden />
      Create Model
    </Button>
  );
  return (
    <ResourcePage
      title="My Models"
      description="Your models, starter models, and models shared by others."
      actions={
        <>
          <ButtonLink to="/model-hub">
            <CloudDownload aria-hidden />
            Model hub
          </ButtonLink>
          <ButtonLink to="/model/source">
            <Lock aria-hidden />
            Restricted models
          </ButtonLink>
          {create}
        </>
      }
    >
      <PageDrop
        label="Drop to create a model"
        onDrop={(folder) => sheets.open('create-model', { dropped: storeDropped(folder) })}
      >
        <AssetList
          kind="model"
          badge={(model, models) => <UnfinishedBadge model={model} models={models} />}
          empty={{
            icon: <Box aria-hidden />,
            title: 'No models yet',
            description:
              'Fine-tune the starter model on one of your datasets. It appears once it is prepared.',
            action: create,
          }}
        />
      </PageDrop>
    </ResourcePage>
  );
}
