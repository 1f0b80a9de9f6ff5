import type { ProblemKinds } from 'civic';

export const mcpProblems = {
  token_required: {
    status: 401,
    title: 'This needs an access token',
    advice: 'API keys are for /api. Enter only the address of /mcp in your assistant: it opens a sign-in page and gets a token.',
  },
  host_refused: {
    status: 403,
    title: 'The Host header is not of this instance',
    advice: 'Use the public address of this instance. If a proxy changes the header, the operator adds the name to plugins.mcp.hosts.',
  },
  website_refused: {
    status: 403,
    title: 'This website may not call /mcp',
    advice: 'Call it from a program, or ask the operator to add the website to plugins.mcp.origins.',
  },
  batch_refused: { status: 400, title: 'Batches are not accepted', advice: 'Send one JSON-RPC message in each request.' },
} satisfies ProblemKinds;
