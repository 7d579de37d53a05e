import type { Generation } from '@bakehouse/contract/generations';
import { ArrowLeft, ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { useStepKeys } from '../../../lib/device/use-step-keys.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Media } from './media.tsx';

type Props = {
  outputs: Generation['outputs'];
  prompt: string;
  /** Index of the displayed picture; null if closed. */
  at: number | null;
  onAt: (at: number | null) => void;
};

/** One picture at its own size; arrow keys move to the adjacent ones. */
export function FullSize({ outputs, prompt, at, onAt }: Props) {
  // Keeps the picture while the dialog fades out.
  const [shown, setShown] = useState(at ?? 0);
  if (at !== null && at !== shown) setShown(at);
  const goBy = (step: number) => outputs[shown + step] && onAt(shown + step);
  useStepKeys(['ArrowLeft', 'ArrowRight'], goBy, { enabled: at !== null && outputs.length > 1, onTop: true });
  const output = outputs[shown];
  if (!output) return null;
  const { width, height } = output;
  return (
    <Dialog
      open={at !== null}
      onOpenChange={(open) => !open && onAt(null)}
      size="fit"
      title={outputs.length > 1 ? `Picture ${shown + 1} of ${outputs.length}` : 'Full size'}
      description={`${width} × ${height} pixels`}
      footer={
        outputs.length > 1 && (
          <>
            {/* aria-disabled keeps the focus on the button at the first and last picture. */}
            <Button aria-disabled={shown === 0} onClick={() => goBy(-1)}>
              <ArrowLeft aria-hidden />
              Previous
            </Button>
            <Button aria-disabled={shown === outputs.length - 1} onClick={() => goBy(1)}>
              Next
              <ArrowRight aria-hidden />
            </Button>
          </>
        )
      }
    >
      <Media media={output} alt={prompt} className="max-w-none" />
    </Dialog>
  );
}
