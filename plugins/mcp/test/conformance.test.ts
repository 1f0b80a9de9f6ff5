import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer, type TestServer } from 'civic/testing';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parse } from 'yaml';
import { mcpPlugin } from '../index.ts';
import { fixtures } from './fixtures.ts';
import { proxyWithToken } from './proxy.ts';
import { runScenarios, type Outcome } from './conformance-run.ts';
import { tokens } from './kit.ts';

export const notQuick = 'it runs the conformance suite';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const BOTH = [
  'tools-list', 'tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content', 'tools-call-error', 'json-schema-2020-12',
  'resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read', 'prompts-list', 'prompts-get-simple', 'prompts-get-with-args',
  'prompts-get-embedded-resource', 'prompts-get-with-image', 'dns-rebinding-protection',
];
const RUN: Record<string, string[]> = {
  '2025-11-25': ['server-initialize', 'server-session-lifecycle', 'ping', ...BOTH],
  '2026-07-28': ['server-stateless', 'http-header-validation', 'caching', 'sep-2164-resource-not-found', 'server-sse-multiple-streams', ...BOTH],
};
const names = Object.entries(RUN).flatMap(([revision, scenarios]) => scenarios.map((scenario) => `${revision}/${scenario}`));

const packageFolder = join(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'), '..');
const readme = readFileSync(join(import.meta.dirname, '../../../../plugins/mcp/README.md'), 'utf8');

/** The scenarios that a revision requires of servers. */
function requiredScenarios(revision: string): string[] {
  return (parse(readFileSync(join(packageFolder, 'requirements', `${revision}.yaml`), 'utf8')) as { server: string[] }).server;
}

describe('The conformance suite', () => {
  let kit: TestServer;
  let proxy: Server;
  let outcomes: Map<string, Outcome>;
  before(async () => {
    kit = await testServer({ listen: true, plugins: [mcpPlugin(() => fixtures), tokens] });
    const { server, url } = await proxyWithToken(kit.url, 'reader');
    proxy = server;
    outcomes = await runScenarios(`${url}/mcp`, names);
  });
  after(async () => {
    proxy.close();
    await kit.close();
  });

  for (const name of names) {
    it(`passes ${name}`, () => {
      expect(outcomes.get(name)?.isPassed, outcomes.get(name)?.output ?? 'it did not run').to.be.true();
    });
  }

  for (const [revision, scenarios] of Object.entries(RUN)) {
    it(`runs every scenario that ${revision} requires, or the README explains why it does not apply`, () => {
      const isExplained = (scenario: string) => readme.includes(`\`${scenario}\``) || (scenario.startsWith('input-required-result-') && readme.includes('`input-required-result-*`'));
      expect(requiredScenarios(revision).filter((scenario) => !scenarios.includes(scenario) && !isExplained(scenario))).to.equal([]);
    });
  }
});
