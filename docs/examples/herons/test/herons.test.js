// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testServer } from 'civic/testing';

const herons = `${import.meta.dirname}/..`;
const count = { site: 'Kaw Point', birds: 3, source_url: 'https://herons.example/kaw-point' };

test('shows an empty page, and rejects a count without an account', async () => {
  const kit = await testServer({ plugins: [herons] });
  try {
    const page = await kit.request('GET', '/herons', { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200);
    assert.match(page.text, /No herons were counted yet/);

    const rejected = await kit.request('POST', '/api/herons', { payload: count });
    assert.equal(rejected.status, 401);
    assert.deepEqual((await kit.request('GET', '/api/herons')).body.data, []);
  } finally {
    await kit.close();
  }
});

test('accepts a count from a caller with the scope and the capability, and shows it', async () => {
  const kit = await testServer({ plugins: [herons] });
  try {
    const created = await kit.request('POST', '/api/herons', { payload: count, as: { scope: ['herons:write'], capabilities: ['herons'] } });
    assert.equal(created.status, 201);
    const page = await kit.request('GET', '/herons', { headers: { accept: 'text/html' } });
    assert.match(page.text, /Kaw Point/);
    assert.equal((await kit.tool('list_heron_counts')).text, '- "Kaw Point": 3 (https://herons.example/kaw-point)');
    assert.equal(JSON.parse(await kit.read('civic://herons/Kaw%20Point')).data[0].birds, 3);
    assert.match(await kit.prompt('compare_heron_sites', { sites: 'Kaw Point' }), /Compare these sites/);

    const withoutPlan = await kit.request('POST', '/api/herons', { payload: count, as: { scope: ['herons:write'] } });
    assert.deepEqual([withoutPlan.status, withoutPlan.body.code], [403, 'plan_required']);
    const withoutScope = await kit.request('POST', '/api/herons', { payload: count, as: { capabilities: ['herons'] } });
    assert.deepEqual([withoutScope.status, withoutScope.body.code], [403, 'insufficient_scope']);
  } finally {
    await kit.close();
  }
});
