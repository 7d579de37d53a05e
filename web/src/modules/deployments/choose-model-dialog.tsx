import { useState } from 'react';
import { countOf } from '../../lib/count-of.ts';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Combobox } from '../../ui/combobox.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { useUser } from '../accounts/api.ts';
import { useAllAssets } from '../assets/api.ts';
import { DeployButton } from './deploy-button.tsx';

/** Any model that has files, and the price of serving it. */
export function ChooseModelDialog({ onClose }: { onClose: () => void }) {
  const user = useUser();
  const models = useAllAssets(user.id, 'MODEL');
  const [modelId, setModelId] = useState<string | null>(null);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Deploy a model"
      description="It answers here and in your programs until you terminate it. While nobody uses it, it sleeps and costs nothing."
      footer={
        <>
          <Button onClick={onClose} className="mr-auto">
            Cancel
          </Button>
          {modelId && <DeployButton modelId={modelId} />}
        </>
      }
    >
      {models.error ? (
        <Callout
          tone="bad"
          title="Your models could not be loaded"
          action={
            <Button size="sm" onClick={models.retry}>
              Retry
            </Button>
          }
        >
          {models.error.message}
        </Callout>
      ) : (
        <Field label="Model">
          <Combobox
            value={modelId}
            onChange={setModelId}
            loading={models.loading}
            placeholder="Choose a model"
            emptyText="No models found"
            options={models.assets
              .filter((model) => model.file_count > 0)
              .map((model) => ({
                value: model.dataset_id,
                label: model.title,
                description: model.is_starter ? 'Starter model' : countOf(model.file_count, 'file'),
              }))}
          />
        </Field>
      )}
    </Dialog>
  );
}
