import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { DocumentationLink } from './documentation-link.tsx';

const links = vi.hoisted(() => ({ documentation: null as string | null, github: null }));
vi.mock('../../documentation/help-links.ts', () => ({ useHelpLinks: () => links }));
vi.mock('@tanstack/react-router', () => ({
  Link: ({ to, ...props }: { to: string; children: string }) => <a href={to} {...props} />,
}));

test("links visitors to the operator's documentation, otherwise to the product's own", () => {
  const { rerender } = render(<DocumentationLink className="" />);
  const address = () => screen.getByRole('link', { name: /^Documentation/ }).getAttribute('href');
  expect(address()).toBe('/docs');
  links.documentation = 'https://docs.example';
  rerender(<DocumentationLink className="rounded" />);
  expect(address()).toBe('https://docs.example');
});
