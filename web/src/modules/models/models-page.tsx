import { getRouteApi } from '@tanstack/react-router';
import { Box, CloudDownload, Lock, Plus } from 'lucide-react';
import { storeDropped } from '../../lib/files/dropped-folder.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageDrop } from '../../ui/page-drop.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { AssetList } from '../assets/asset-list.tsx';
import { UnfinishedBadge } from '../training/runs/unfinished/unfinished-badge.tsx';

const route = getRouteApi('/app/model');

export function ModelsPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const sheets = useSheets();
  const create = (
    <Button variant="primary" onClick={() => sheets.open('create-model')}>
      <Plus aria-hidden />
      Create Model
    </Button>
  );
  return (
    <>
      <PageHeader
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
      />
      <PageDrop
        label="Drop to create a model"
        onDrop={(folder) => sheets.open('create-model', { dropped: storeDropped(folder) })}
      >
        <AssetList
          kind="model"
          filter={filter}
          badge={(model, models) => <UnfinishedBadge model={model} models={models} />}
          onFilter={(search) => void navigate({ search, replace: true })}
          empty={
            <EmptyState
              icon={<Box aria-hidden />}
              title="No models yet"
              description="Fine-tune the starter model on one of your datasets. It appears once it is prepared."
              action={create}
            />
          }
        />
      </PageDrop>
    </>
  );
}
