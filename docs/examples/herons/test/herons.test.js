// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testServer } from 'civic/testing';

const herons = new URL('..', import.meta.url).pathname;

test('shows an empty page, and rejects a count without an account', async () => {
  const kit = await testServer({ plugins: [herons] });
  try {
    const page = await kit.request('GET', '/herons', { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200);
    assert.match(page.text, /No herons were counted yet/);

    const rejected = await kit.request('POST', '/api/herons', { payload: { site: 'Kaw Point', birds: 3, source_url: 'https://herons.example/kaw' } });
    assert.equal(rejected.status, 401);
    assert.deepEqual((await kit.request('GET', '/api/herons')).body.data, []);
  } finally {
    await kit.close();
  }
});
