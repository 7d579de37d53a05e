import { Link } from '@tanstack/react-router';
import { claudeCodeExample } from '../../lib/api/examples/chat-examples.ts';
import { CodeBlock } from '../../ui/code-block.tsx';

/** Claude Code settings for a model, and a link to those for other agents. */
export function AgentSettings({ modelName }: { modelName: string }) {
  return (
    <>
      <CodeBlock code={claudeCodeExample(window.location.origin, modelName)} label="Claude Code" />
      <p className="mt-3 text-compact text-muted">
        For Codex CLI, OpenCode and others, see{' '}
        <Link
          to="/docs/$"
          params={{ _splat: 'coding-agents' }}
          className="text-accent-text underline underline-offset-2"
        >
          Coding agents and clients
        </Link>
        .
      </p>
    </>
  );
}
