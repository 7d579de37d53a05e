import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AssetField } from '../assets/choice/api.ts';
import { DeployButton } from './deploy-button.tsx';

/** Any model that has files, and the price of serving it. */
export function ChooseModelDialog({ onClose }: { onClose: () => void }) {
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
      <AssetField
        types="MODEL"
        label="Model"
        failed="Your models could not be loaded"
        fits={(model) => model.file_count > 0}
        value={modelId}
        onChange={setModelId}
      />
    </Dialog>
  );
}
