import { useState } from 'react';
import { agentExamples } from '../../../lib/api/examples/agent-examples.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Select } from '../../../ui/select.tsx';

/** How coding agents and clients are told to use a model. */
export function AgentSettings({ modelName }: { modelName: string }) {
  const examples = agentExamples(window.location.origin, modelName);
  const [chosen, setChosen] = useState('Claude Code');
  return (
    <>
      <Select
        aria-label="Agent or client"
        className="mb-2 w-full sm:w-60"
        value={chosen}
        onChange={setChosen}
        options={examples.map(({ label }) => ({ value: label, label }))}
      />
      <CodeBlock code={examples.find(({ label }) => label === chosen)?.code ?? ''} label={chosen} />
    </>
  );
}
