import { Eye, EyeOff, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { notify } from '../../../ui/notify.ts';
import { useRotateApiKey } from './key-calls.ts';
import { maskKey } from './mask-key.ts';

type Props = {
  apiKey: string;
  /** True if the key is displayed in full. */
  shown: boolean;
  onShownChange: (shown: boolean) => void;
};

/** The key that the web app itself sends: show, copy, replace. */
export function WebAppKeyCard({ apiKey, shown, onShownChange }: Props) {
  const [asking, setAsking] = useState(false);
  const rotate = useRotateApiKey();

  function replace() {
    rotate.mutate(undefined, {
      onSuccess: () => {
        setAsking(false);
        onShownChange(true);
        notify.success('The API key was replaced', { description: 'The old one no longer works.' });
      },
    });
  }

  return (
    <Card title="Web app key" description="Used by this browser. Has full access and does not expire.">
      <div className="flex flex-wrap items-center gap-3">
        <output
          aria-label="API key"
          className="min-w-0 flex-1 basis-72 break-all rounded-lg bg-subtle px-3 py-2 font-mono text-compact"
        >
          {shown ? apiKey : maskKey(apiKey)}
        </output>
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => onShownChange(!shown)} aria-pressed={shown}>
            {shown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
            {shown ? 'Hide' : 'Show'}
          </Button>
          <CopyButton text={apiKey} label="Copy" withText />
          <Button onClick={() => setAsking(true)}>
            <RotateCw aria-hidden />
            Replace
          </Button>
        </div>
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Replace the API key?"
        description="The old key stops working immediately. This browser switches to the new one."
        action="Replace"
        pending={rotate.isPending}
        onConfirm={replace}
      />
    </Card>
  );
}
