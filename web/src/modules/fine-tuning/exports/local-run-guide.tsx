import type { ExportRun } from '@bakehouse/contract/runs';
import { Card } from '../../../ui/card.tsx';
import { CodeBlock } from '../../../ui/code-block.tsx';

/** Shows how to run an exported GGUF on another computer. */
export function LocalRunGuide({ run: { summary } }: { run: ExportRun }) {
  const name = summary?.file_name;
  if (typeof name !== 'string') return null;
  const model = name.toLowerCase();
  return (
    <Card title="Run it on your computer" className="mb-5">
      <p className="mb-3 text-compact text-muted">
        Download the model’s files and run one of these commands in their folder.
      </p>
      <div className="grid gap-4 lg:grid-cols-2">
        <Command label="Ollama" code={`ollama create ${model} -f Modelfile\nollama run ${model}`} />
        <Command label="llama.cpp" code={`llama-server -m ${name}.gguf`} />
      </div>
    </Card>
  );
}

function Command({ label, code }: { label: string; code: string }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 font-medium text-compact">{label}</h3>
      <CodeBlock label={label} code={code} />
    </div>
  );
}
