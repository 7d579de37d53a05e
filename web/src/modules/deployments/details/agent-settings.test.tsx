import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { AgentSettings } from './agent-settings.tsx';

test('the settings of the agent that is chosen are shown, with the name of the model', async () => {
  render(<AgentSettings modelName="rye" />);
  expect(screen.getByRole('region', { name: 'Claude Code' }).textContent).toContain('ANTHROPIC_MODEL=rye');
  await userEvent.click(screen.getByRole('combobox', { name: 'Agent or client' }));
  await userEvent.click(await screen.findByRole('option', { name: 'Codex CLI' }));
  expect(screen.getByRole('region', { name: 'Codex CLI' }).textContent).toContain('wire_api = "responses"');
  expect(screen.getByRole('button', { name: 'Copy: Codex CLI' })).toBeDefined();
});
