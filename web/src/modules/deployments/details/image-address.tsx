import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import { deployedImageExamples } from '../../../lib/api/examples/picture-examples.ts';
import { Card } from '../../../ui/card.tsx';
import { CodeTabs } from '../../../ui/code-block.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { kindRow } from '../kinds.ts';

/** The API address of an image model; hidden once it has ended. */
export function ImageAddress({ deployment }: { deployment: ImageDeployment }) {
  const { kind, model_name, inference_url, endpoint_url } = deployment;
  const { edits = false } = kindRow(kind);
  // Generate-only models have no calls of their own.
  const url = edits ? inference_url : endpoint_url;
  if (url === null) return null;
  return (
    <Card
      title="Address"
      description="Use one of your API keys as the bearer token. A request wakes the model."
    >
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-subtle px-3 py-2 text-compact [overflow-wrap:anywhere]">
          {url}
        </code>
        <CopyButton text={url} label="Copy the address" />
      </div>
      <p className="mt-3 text-compact text-muted leading-5 [overflow-wrap:anywhere]">
        For OpenAI’s image API, use the model <code>{model_name}</code> and the base URL{' '}
        <code>{endpoint_url}</code>.
      </p>
      {endpoint_url !== null && (
        <div className="mt-4">
          <Disclosure title="Use from code">
            <CodeTabs examples={deployedImageExamples(endpoint_url, { model: model_name, edits })} />
          </Disclosure>
        </div>
      )}
    </Card>
  );
}
