import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useUser } from '../accounts/api.ts';
import { AssetField } from '../assets/choice/api.ts';
import { DeployButton } from './deploy-button.tsx';
import { sleepSentence } from './details/sleeps-after.ts';
import { textQuoteQuery } from './details/text-quote.ts';
import { deploymentKinds } from './kinds.ts';

const { words } = deploymentKinds.text;

type Props = {
  /** The model that is chosen at first. */
  chosen?: string | null;
  onClose: () => void;
};

/** Any model that has files, and the price of serving it. */
export function ChooseModelDialog({ chosen = null, onClose }: Props) {
  const user = useUser();
  const [modelId, setModelId] = useState(chosen);
  const quote = useQuery({
    ...textQuoteQuery({ model_id: modelId ?? '', user_id: user.id }),
    enabled: modelId !== null,
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.deploy}
      description={words.deployAbout}
      footer={
        <>
          <Button onClick={onClose} className="mr-auto">
            Cancel
          </Button>
          {modelId && <DeployButton key={modelId} modelId={modelId} />}
        </>
      }
    >
      <AssetField
        types="MODEL"
        label="Model"
        failed="Your models could not be loaded"
        fits={(model) => model.file_count > 0 && model.pipeline === null}
        value={modelId}
        onChange={setModelId}
        help={quote.data && sleepSentence(quote.data.sleeps_after_minutes)}
      />
    </Dialog>
  );
}
