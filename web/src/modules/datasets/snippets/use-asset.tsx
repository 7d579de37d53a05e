import type { Asset } from '@bakehouse/contract/assets';
import { Link } from '@tanstack/react-router';
import { Code } from 'lucide-react';
import { useState } from 'react';
import { hubEnvironment, hubExamples } from '../../../lib/api/examples/hub-examples.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeBlock, CodeTabs } from '../../../ui/code-block.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { toRepository } from './to-repository.ts';

/** Opens code to load the asset elsewhere; renders nothing if it has no files. */
export function UseAsset({ asset }: { asset: Asset }) {
  const [open, setOpen] = useState(false);
  if (asset.file_count === 0) return null;
  const noun = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Code aria-hidden />
        Use this {noun}
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        size="lg"
        title={`Use this ${noun}`}
        description={
          <>
            The hub’s clients work with this server. Set <code className="font-mono">HF_TOKEN</code> to one of{' '}
            <Link to="/api-key" className="rounded text-accent-text underline underline-offset-2">
              your API keys
            </Link>
            ; a read-only key is enough.
          </>
        }
      >
        <Snippets asset={asset} noun={noun} />
      </Dialog>
    </>
  );
}

function Snippets({ asset, noun }: { asset: Asset; noun: string }) {
  return (
    <>
      <h3 className="mb-2 font-medium">Set the address and your key</h3>
      <CodeBlock code={hubEnvironment(window.location.origin)} label="Environment" />
      <h3 className="mt-5 mb-2 font-medium">Load the {noun}</h3>
      <CodeTabs examples={hubExamples(toRepository(asset))} />
    </>
  );
}
