PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,      -- what a person calls it
  cpu TEXT NOT NULL,              -- model string
  architecture TEXT NOT NULL,     -- x86_64, aarch64
  cores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  l1d_bytes INTEGER,              -- per core; NULL: unknown
  l2_bytes INTEGER,               -- per core; NULL: unknown
  llc_bytes INTEGER,              -- last-level cache; NULL: unknown
  isa TEXT NOT NULL               -- instruction sets, sorted, separated by a space
);
INSERT INTO device VALUES(1,'desk','Some CPU','x86_64',2,64000000000,32768,1048576,33554432,'avx avx2 avx512_bf16 avx512_vnni avx512bw avx512cd avx512dq avx512f avx512vl f16c fma sse4_1 sse4_2 ssse3');
INSERT INTO device VALUES(2,'V100','','',0,0,NULL,NULL,NULL,'');
CREATE TABLE setting(
  id INTEGER PRIMARY KEY,
  canonical TEXT NOT NULL UNIQUE, -- JSON object of all fields, names sorted
  runtime TEXT NOT NULL,
  version TEXT NOT NULL,
  build TEXT NOT NULL,
  precision TEXT NOT NULL,        -- "model": what the model states
  threads INTEGER NOT NULL,
  options TEXT NOT NULL           -- JSON object, name: text
);
INSERT INTO setting VALUES(1,'{"build":"Release GNU 12.2.0","options":{},"precision":"model","runtime":"reference","threads":1,"version":"0.1.0"}','reference','0.1.0','Release GNU 12.2.0','model',1,'{}');
INSERT INTO setting VALUES(2,'{"build":"ffecc66cc9ec (ORT Build Info: git-branch=HEAD, git-commit-id=6af1a93, fp8-kv-cache=1, build type=Release)","options":{"level":"99","spinning":"1"},"precision":"model","runtime":"onnxruntime","threads":1,"version":"1.31.1"}','onnxruntime','1.31.1','ffecc66cc9ec (ORT Build Info: git-branch=HEAD, git-commit-id=6af1a93, fp8-kv-cache=1, build type=Release)','model',1,'{"level":"99","spinning":"1"}');
INSERT INTO setting VALUES(3,'{"build":"","options":{},"precision":"fp32","runtime":"tensorrt","threads":1,"version":""}','tensorrt','','','fp32',1,'{}');
CREATE TABLE environment(
  id INTEGER PRIMARY KEY,
  kernel TEXT NOT NULL,           -- release of the operating system
  hostname_hash TEXT NOT NULL,
  started_at TEXT NOT NULL,       -- UTC, ISO 8601
  load_average REAL NOT NULL,     -- of one minute, before the campaign
  facts TEXT NOT NULL             -- JSON object, name: text
);
INSERT INTO environment VALUES(1,'6.1','aa','2026-11-21T14:20:36Z',0.2000000000000000111,'{"clock_source":"tsc"}');
INSERT INTO environment VALUES(2,'6.1','aa','2026-11-21T14:21:34Z',1.1999999999999999555,'{"clock_source":"tsc"}');
CREATE TABLE campaign(
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  environment INTEGER NOT NULL REFERENCES environment(id),
  argv TEXT NOT NULL,
  commit_id TEXT NOT NULL,        -- of oplat
  seed TEXT NOT NULL,             -- decimal, 0 to 2^64-1
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  empty_call_ns REAL              -- a call of the runtime that computes nothing
);
INSERT INTO campaign VALUES(1,1,1,1,'oplat profile','e5ce4c91deea','1',51195.250000000000001,328814.74999999999999,25.365079365079367334);
INSERT INTO campaign VALUES(2,1,2,2,'oplat profile','e5ce4c91deea','1',51186.0,328947.75,1287.1428571428571104);
CREATE TABLE kernel(
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,      -- XXH3, 128 bits, big-endian, of key
  key TEXT NOT NULL
);
INSERT INTO kernel VALUES(1,X'd18b34aa8854a8d74d64ef3987236298','Relu/14{}(f32[1,100])->(f32[1,100])');
INSERT INTO kernel VALUES(2,X'639131ef918bc0051c04c74a4f3fa871','LSTM/14{hidden_size=4}(f32[1,1,4],f32c[1,16,4],f32c[1,16,4])->(f32[1,1,1,4],-,-)');
INSERT INTO kernel VALUES(3,X'531da5733c2aa0e517267b6f1f6afb12','com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2]}(f32[1,3,32,32],f32c[16,3,3,3],f32c[16])->(f32[1,16,16,16])');
INSERT INTO kernel VALUES(4,X'a5f09f444ea0459a98d9eac15991fcf7','com.microsoft.nchwc:MaxPool/1@block=16{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[1,1,1,1],storage_order=0,strides=[1,1]}(f32[1,16,16,16])->(f32[1,16,16,16])');
INSERT INTO kernel VALUES(5,X'cbbb3566337d8b70de07bf91a65b0c2b','com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,16,16,16],f32c[16,16,3,3],f32c[16])->(f32[1,16,16,16])');
INSERT INTO kernel VALUES(6,X'e3336528c2a528545011af50b0a9036a','com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,16,16,16],f32c[16,16,3,3],f32c[16],f32[1,16,16,16])->(&3)');
INSERT INTO kernel VALUES(7,X'e138351aeefafb7b1ff3bef73b25ad45','com.microsoft.nchwc:Conv/1@block=16{activation=Clip,activation_params=[0.0,6.0],dilations=[1,1],group=16,kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2]}(f32[1,16,16,16],f32c[16,1,3,3],f32c[16])->(f32[1,16,8,8])');
INSERT INTO kernel VALUES(8,X'01ba89cb046134b3d927834c8dfebd23','com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]}(f32[1,16,8,8],f32c[32,16,1,1],f32c[32])->(f32[1,32,8,8])');
INSERT INTO kernel VALUES(9,X'56c32b04082279f802baaecdda0aa13e','com.microsoft.nchwc:GlobalAveragePool/1@block=16{}(f32[1,32,8,8])->(f32[1,32,1,1])');
INSERT INTO kernel VALUES(10,X'055f18c7d7f3619790b10957b59d1b86','com.microsoft.nchwc:ReorderOutput/1@block=16{channels=32,channels_last=0}(f32[1,32,1,1])->(f32[1,32,1,1])');
INSERT INTO kernel VALUES(11,X'8ba48ff3c364c5b2ec4abf6f5ba598b4','Flatten/13{axis=1}(f32[1,32,1,1])->(f32[1,32])');
INSERT INTO kernel VALUES(12,X'2369d9e49bca20091d733efd305cc7d1','Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=1}(f32[1,32],f32c[10,32],f32c[10])->(f32[1,10])');
INSERT INTO kernel VALUES(13,X'928eb53148352dc8ba822a7cbdbc3ee6','Relu/14{}(f32[1,16])->(f32[1,16])');
INSERT INTO kernel VALUES(14,X'04f720088424283f6686e65dd6d4f6f3','tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,16,5,5],f32c[8,16,1,1])->(f32[1,8,5,5])');
INSERT INTO kernel VALUES(15,X'db4a0c1d38ecc5e10fa9d96ab3cef2c3','tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,16,5,5],f32c[8,16,1,1],f32[1,8,5,5])->(&2)');
CREATE TABLE row(
  id INTEGER PRIMARY KEY,
  kernel INTEGER NOT NULL REFERENCES kernel(id),
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  reuse_bytes REAL,               -- cache state; NULL: the source does not say
  campaign INTEGER REFERENCES campaign(id),
  origin TEXT NOT NULL,           -- own, or the format it was imported from
  outcome TEXT NOT NULL,          -- timing, unsupported, skipped, failed
  reason TEXT,                    -- NULL for a timing
  median_ns REAL,                 -- from here to processes: NULL unless a timing
  sd_log REAL,
  ci_low_ns REAL,
  ci_high_ns REAL,
  ci_level REAL,
  min_ns REAL,
  p10_ns REAL,
  p90_ns REAL,
  blocks INTEGER,
  processes INTEGER,
  copies INTEGER NOT NULL,        -- k of the slope
  topology TEXT NOT NULL,         -- chain, fan, single, or empty
  flags TEXT NOT NULL             -- JSON array of words
, file INTEGER REFERENCES native_file(id) ON DELETE CASCADE);
INSERT INTO "row" VALUES(1,1,1,1,800.0,1,'own','timing',NULL,26.117647058823528992,0.0037337638673167017171,25.519416678120574459,26.746447305585338226,0.94999999999999995559,26.039215686274509663,26.039215686274509663,26.227450980392156055,5,5,256,'chain','["under_load"]',NULL);
INSERT INTO "row" VALUES(2,2,1,1,544.0,1,'own','unsupported','operator LSTM has no plain loops',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,'','[]',NULL);
INSERT INTO "row" VALUES(3,6,1,2,58432.0,2,'own','timing',NULL,11743.235294117646844,0.0013381029731927721136,11476.036360322856126,12022.326349300798028,0.94999999999999995559,11726.823529411763957,11730.588235294117111,11762.376470588234952,5,5,18,'chain','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(4,7,1,2,21120.0,2,'own','timing',NULL,917.5410628019324122,0.052756228047886724596,867.40584701709633466,930.72000386870161036,0.94999999999999995559,811.73913043478262349,828.45362318840579975,931.34275362318840055,12,12,208,'fan','["bimodal","disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(5,5,1,2,42048.0,2,'own','timing',NULL,11700.638888888888687,0.0037675648840273961472,11451.521505232723939,12002.250327161344102,0.94999999999999995559,11691.777777777777373,11692.688888888887959,11770.055555555554747,5,5,19,'chain','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(6,8,1,2,14464.0,2,'own','timing',NULL,1042.8218085106382204,0.015177190876291388535,1022.5908183418026737,1079.8395196277874674,0.94999999999999995559,1036.3510638297873356,1037.4042553191491151,1068.4542553191488423,5,5,189,'fan','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(7,3,1,2,30464.0,2,'own','timing',NULL,2597.1623376623374497,0.010021363823999186737,2520.2019868312495417,2649.6780202007666957,0.94999999999999995559,2544.9935064935066293,2556.1597402597403742,2604.8259740259741192,5,5,78,'fan','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(8,10,1,2,256.0,2,'own','timing',NULL,226.02156862745098918,0.027417604961144353276,220.20600739616889996,236.00811278075067888,0.94999999999999995559,223.39215686274511085,223.75294117647058556,234.21333333333333825,5,5,256,'chain','["under_load"]',NULL);
INSERT INTO "row" VALUES(9,13,1,2,128.0,2,'own','timing',NULL,172.60784313725488913,0.023488891895696993594,169.31965103413014616,180.51427846851453296,0.94999999999999995559,172.57254901960783399,172.58666666666664468,178.83450980392157702,5,5,256,'fan','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(10,4,1,2,32768.0,2,'own','timing',NULL,1192.9624060150376863,0.031362461306485900358,1158.4621479997797451,1248.6397662973879505,0.94999999999999995559,1168.5789473684210406,1170.6571428571428441,1243.7270676691728112,5,5,134,'chain','["disturbed","under_load"]',NULL);
INSERT INTO "row" VALUES(11,12,1,2,1488.0,2,'own','timing',NULL,258.85098039215688459,0.018988993238428210352,252.9754943226585624,268.22415992039611864,0.94999999999999995559,256.65294117647056281,256.67019607843133144,265.74980392156862763,5,5,256,'fan','["under_load"]',NULL);
INSERT INTO "row" VALUES(12,9,1,2,8320.0,2,'own','timing',NULL,300.64313725490194428,0.0057232141295596354949,293.44015228030292517,307.76477083806378233,0.94999999999999995559,298.28235294117649801,298.73098039215688003,302.21960784313728254,5,5,256,'fan','["under_load"]',NULL);
INSERT INTO "row" VALUES(13,14,2,3,NULL,NULL,'tinynas','timing',NULL,11776.0,0.0,11776.0,11776.0,0.0,11776.0,11776.0,11776.0,1,1,1,'','[]',1);
INSERT INTO "row" VALUES(14,15,2,3,NULL,NULL,'tinynas','failed','the profile failed (-1)',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,'','[]',1);
CREATE TABLE block(
  id INTEGER PRIMARY KEY,
  "row" INTEGER NOT NULL REFERENCES row(id) ON DELETE CASCADE,
  campaign INTEGER REFERENCES campaign(id), -- of the row when the block was added
  pass INTEGER NOT NULL,          -- number in the campaign
  process INTEGER NOT NULL,       -- number in the campaign
  value_ns REAL NOT NULL,         -- slope: one execution of the kernel
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  rounds INTEGER NOT NULL,        -- calls behind the value
  switches INTEGER NOT NULL,      -- involuntary context switches
  steal_ticks INTEGER NOT NULL
);
INSERT INTO block VALUES(1,1,1,1,2,26.039215686274509663,51246.0,328487.0,8821,21,0);
INSERT INTO block VALUES(2,1,1,2,3,26.117647058823528992,51196.0,328687.0,7224,13,0);
INSERT INTO block VALUES(3,1,1,3,4,26.156862745098038657,51195.0,329198.0,7251,13,0);
INSERT INTO block VALUES(4,1,1,4,5,26.274509803921567651,51196.0,468324.0,6613,13,0);
INSERT INTO block VALUES(5,1,1,5,6,26.039215686274509663,51176.0,331471.0,5384,11,0);
INSERT INTO block VALUES(6,3,2,1,2,11765.647058823529733,51186.0,422756.0,260,16,0);
INSERT INTO block VALUES(7,4,2,1,2,829.97101449275362487,55422.0,565588.0,257,14,0);
INSERT INTO block VALUES(8,5,2,1,4,11729.638888888888686,51186.0,691955.0,204,13,0);
INSERT INTO block VALUES(9,6,2,1,4,1061.3563829787233316,51196.0,329378.0,221,13,0);
INSERT INTO block VALUES(10,7,2,1,4,2603.4545454545454958,51186.0,330720.0,235,14,0);
INSERT INTO block VALUES(11,8,2,1,4,227.0039215686274474,51186.0,327986.0,818,14,0);
INSERT INTO block VALUES(12,9,2,1,4,173.86274509803922683,51176.0,328407.0,983,14,0);
INSERT INTO block VALUES(13,10,2,1,4,1168.5789473684210406,51196.0,431600.0,285,13,0);
INSERT INTO block VALUES(14,11,2,1,4,261.36862745098039795,51186.0,337690.0,673,14,0);
INSERT INTO block VALUES(15,12,2,1,4,301.81960784313724844,51196.0,328717.0,577,14,0);
INSERT INTO block VALUES(16,9,2,2,5,172.60784313725488913,51186.0,329678.0,1011,13,0);
INSERT INTO block VALUES(17,10,2,2,5,1173.7744360902256631,51186.0,328837.0,297,13,0);
INSERT INTO block VALUES(18,4,2,2,7,916.96135265700479521,51186.0,328647.0,253,14,0);
INSERT INTO block VALUES(19,3,2,2,7,11743.235294117646844,51406.0,328116.0,397,4,0);
INSERT INTO block VALUES(20,8,2,2,7,224.29411764705881181,51196.0,405501.0,814,13,0);
INSERT INTO block VALUES(21,7,2,2,7,2605.7402597402597166,51196.0,329118.0,238,15,0);
INSERT INTO block VALUES(22,6,2,2,7,1042.8218085106382204,51176.0,327845.0,238,15,0);
INSERT INTO block VALUES(23,12,2,2,7,298.28235294117649801,51196.0,366743.0,699,21,0);
INSERT INTO block VALUES(24,5,2,2,7,11694.055555555554747,51276.0,343809.0,215,17,0);
INSERT INTO block VALUES(25,11,2,2,7,258.85098039215688459,51186.0,327676.0,1279,13,0);
INSERT INTO block VALUES(26,4,2,3,8,933.80193236714978868,59769.0,450768.0,245,13,0);
INSERT INTO block VALUES(27,5,2,3,8,11797.0,51186.0,328797.0,145,10,0);
INSERT INTO block VALUES(28,11,2,3,8,268.67058823529413303,51186.0,331050.0,655,14,0);
INSERT INTO block VALUES(29,8,2,3,8,239.01960784313726548,51176.0,329558.0,800,13,0);
INSERT INTO block VALUES(30,7,2,3,8,2597.1623376623374497,51176.0,328917.0,226,13,0);
INSERT INTO block VALUES(31,6,2,3,8,1073.1861702127660009,51185.0,330820.0,239,15,0);
INSERT INTO block VALUES(32,3,2,3,8,11757.470588235293689,51216.0,328046.0,209,15,0);
INSERT INTO block VALUES(33,10,2,3,8,1461.9398496240601162,51185.0,363849.0,241,15,0);
INSERT INTO block VALUES(34,12,2,3,10,302.48627450980393404,51186.0,347645.0,589,19,0);
INSERT INTO block VALUES(35,9,2,3,10,182.14901960784314382,51185.0,328848.0,735,13,0);
INSERT INTO block VALUES(36,5,2,4,11,11700.638888888888687,51196.0,359973.0,306,19,0);
INSERT INTO block VALUES(37,10,2,4,11,1192.9624060150376863,51206.0,331481.0,295,13,0);
INSERT INTO block VALUES(38,7,2,4,11,2544.9935064935066293,51216.0,378641.0,164,11,0);
INSERT INTO block VALUES(39,6,2,4,11,1038.9840425531915571,51186.0,328196.0,247,15,0);
INSERT INTO block VALUES(40,9,2,4,11,175.6705882352941046,51196.0,854526.0,1035,13,0);
INSERT INTO block VALUES(41,3,2,4,11,11736.235294117646844,51196.0,329509.0,221,14,0);
INSERT INTO block VALUES(42,11,2,4,11,256.65294117647056281,51296.0,328497.0,696,17,0);
INSERT INTO block VALUES(43,12,2,4,11,299.40392156862742467,51186.0,403357.0,578,13,0);
INSERT INTO block VALUES(44,4,2,4,11,828.28502415458933683,51206.0,329609.0,277,13,0);
INSERT INTO block VALUES(45,8,2,4,11,226.02156862745098918,51176.0,328958.0,588,10,0);
INSERT INTO block VALUES(46,8,2,5,13,223.39215686274511085,51186.0,332152.0,802,14,0);
INSERT INTO block VALUES(47,4,2,5,13,811.73913043478262349,51196.0,337780.0,273,14,0);
INSERT INTO block VALUES(48,5,2,5,13,11691.777777777777373,51185.0,419592.0,201,18,0);
INSERT INTO block VALUES(49,12,2,5,13,300.64313725490194428,51186.0,339473.0,633,14,0);
INSERT INTO block VALUES(50,6,2,5,13,1036.3510638297873356,51195.0,485799.0,248,17,0);
INSERT INTO block VALUES(51,7,2,5,13,2572.9090909090909916,51186.0,329137.0,187,11,0);
INSERT INTO block VALUES(52,11,2,5,13,256.69607843137254121,51186.0,328737.0,608,12,0);
INSERT INTO block VALUES(53,3,2,5,15,11726.823529411763957,51206.0,875637.0,215,13,0);
INSERT INTO block VALUES(54,9,2,5,15,172.60784313725488913,51185.0,330650.0,936,14,0);
INSERT INTO block VALUES(55,10,2,5,15,1223.5789473684210406,51206.0,382647.0,276,14,0);
INSERT INTO block VALUES(56,4,2,6,16,919.40579710144925227,51286.0,330199.0,232,13,0);
INSERT INTO block VALUES(57,9,2,6,16,177.74901960784313814,52678.0,1837482.0,931,13,0);
INSERT INTO block VALUES(58,10,2,6,16,1185.210526315789366,51195.0,356228.0,275,14,0);
INSERT INTO block VALUES(59,4,2,7,17,930.12318840579712286,51196.0,331531.0,228,15,0);
INSERT INTO block VALUES(60,10,2,7,17,1216.1654135338346805,51186.0,331721.0,293,13,0);
INSERT INTO block VALUES(61,9,2,7,17,172.57254901960783399,51286.0,341456.0,1042,12,0);
INSERT INTO block VALUES(62,4,2,8,18,916.91545893719808187,51196.0,337560.0,250,12,0);
INSERT INTO block VALUES(63,10,2,8,18,1262.1015037593983833,51186.0,329969.0,240,11,0);
INSERT INTO block VALUES(64,4,2,9,19,931.47826086956524707,51206.0,328347.0,235,14,0);
INSERT INTO block VALUES(65,4,2,10,20,918.12077294685991548,51196.0,356719.0,240,14,0);
INSERT INTO block VALUES(66,4,2,11,21,916.86473429951695383,51195.0,332583.0,246,14,0);
INSERT INTO block VALUES(67,4,2,12,22,930.05314009661833552,51186.0,344961.0,240,14,0);
CREATE TABLE model_row(
  id INTEGER PRIMARY KEY,
  plan_identity TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  campaign INTEGER REFERENCES campaign(id),
  name TEXT NOT NULL,             -- of the model file
  batch INTEGER NOT NULL,
  outcome TEXT NOT NULL,          -- from here on as in row; times are of one run of the whole batch
  reason TEXT,
  median_ns REAL,
  sd_log REAL,
  ci_low_ns REAL,
  ci_high_ns REAL,
  ci_level REAL,
  min_ns REAL,
  p10_ns REAL,
  p90_ns REAL,
  blocks INTEGER,
  processes INTEGER,
  copies INTEGER NOT NULL,
  topology TEXT NOT NULL,
  flags TEXT NOT NULL
);
INSERT INTO model_row VALUES(1,'69bace444e765d80fdb1ac0f9d6de981',1,2,2,'tiny_cnn.onnx',1,'timing',NULL,32057.0,0.0075325822926830534806,31372.2512167271816,32932.617170651785271,0.94999999999999995559,31967.0,31995.0,32368.599999999998545,5,5,1,'','["under_load"]');
CREATE TABLE model_block(
  id INTEGER PRIMARY KEY,
  "row" INTEGER NOT NULL REFERENCES model_row(id) ON DELETE CASCADE,
  campaign INTEGER REFERENCES campaign(id),
  pass INTEGER NOT NULL,
  process INTEGER NOT NULL,
  value_ns REAL NOT NULL,         -- median call: one run of the model
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  rounds INTEGER NOT NULL,
  switches INTEGER NOT NULL,
  steal_ticks INTEGER NOT NULL
);
INSERT INTO model_block VALUES(1,1,2,1,3,31967.0,54301.0,463266.0,4134,40,0);
INSERT INTO model_block VALUES(2,1,2,2,6,32068.0,51195.0,327826.0,4511,38,0);
INSERT INTO model_block VALUES(3,1,2,3,9,32057.0,54481.0,430117.0,4304,40,0);
INSERT INTO model_block VALUES(4,1,2,4,12,32569.0,51195.0,329138.0,3934,38,0);
INSERT INTO model_block VALUES(5,1,2,5,14,32037.0,51196.0,341546.0,4320,81,0);
CREATE TABLE plan(
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE,  -- hash of model and external bytes, shapes, setting, ISA, plan format
  model TEXT NOT NULL,            -- file name
  source TEXT NOT NULL,           -- runtime, rules:NAME
  batch INTEGER NOT NULL,
  weight_bytes REAL NOT NULL,     -- distinct constant bytes of the kernels
  activation_bytes REAL NOT NULL  -- bytes of distinct results of one run
);
INSERT INTO "plan" VALUES(1,'69bace444e765d80fdb1ac0f9d6de981','tiny_cnn.onnx','runtime',1,24488.0,78120.0);
CREATE TABLE plan_kernel(
  id INTEGER PRIMARY KEY,
  plan INTEGER NOT NULL REFERENCES plan(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,      -- in execution order, from 0
  name TEXT NOT NULL,             -- of the node
  kernel INTEGER NOT NULL REFERENCES kernel(id),
  count INTEGER NOT NULL          -- executions per run of the model
);
INSERT INTO plan_kernel VALUES(1,1,0,'n0',3,1);
INSERT INTO plan_kernel VALUES(2,1,1,'n1',4,1);
INSERT INTO plan_kernel VALUES(3,1,2,'n2',5,1);
INSERT INTO plan_kernel VALUES(4,1,3,'n3',6,1);
INSERT INTO plan_kernel VALUES(5,1,4,'n4',7,1);
INSERT INTO plan_kernel VALUES(6,1,5,'n5',8,1);
INSERT INTO plan_kernel VALUES(7,1,6,'n6',9,1);
INSERT INTO plan_kernel VALUES(8,1,7,'n7',10,1);
INSERT INTO plan_kernel VALUES(9,1,8,'n8',11,1);
INSERT INTO plan_kernel VALUES(10,1,9,'n9',12,1);
CREATE TABLE fit(
  id INTEGER PRIMARY KEY,
  format TEXT NOT NULL,           -- of blob; a fit of unknown format is ignored
  seed TEXT NOT NULL,             -- decimal, 0 to 2^64-1
  rows_hash BLOB NOT NULL,        -- of the rows it was fitted to; a fit of other rows is ignored
  blob BLOB NOT NULL
);
CREATE TABLE model_file(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,          -- bytes
  mtime_ns INTEGER NOT NULL,      -- time of last change, ns since 1970
  hash TEXT NOT NULL
);
INSERT INTO model_file VALUES(1,'/models/1',27982,1795270894243569146,'c0b01e98755feada74cffacf26edde4f');
CREATE TABLE lease(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  token TEXT NOT NULL,            -- random, of the writer
  pid INTEGER NOT NULL,
  process_start INTEGER,          -- clock ticks after boot; NULL: unknown
  host TEXT NOT NULL,             -- hash of host name, boot and process namespace
  since_ms INTEGER NOT NULL,      -- since 1970, UTC
  heartbeat_ms INTEGER NOT NULL   -- since 1970, UTC
);
CREATE TABLE native_file(id INTEGER PRIMARY KEY, format TEXT NOT NULL, name TEXT NOT NULL, hash BLOB NOT NULL, device INTEGER NOT NULL REFERENCES device(id), setting INTEGER NOT NULL REFERENCES setting(id), head BLOB NOT NULL, tail BLOB NOT NULL);
INSERT INTO native_file VALUES(1,'tinynas','tiny.out',X'da4b5d4c67f6aae1ada1c8b505da6ff6',2,3,X'',X'');
CREATE TABLE native("row" INTEGER PRIMARY KEY REFERENCES row(id) ON DELETE CASCADE, gap BLOB NOT NULL, text BLOB);
CREATE UNIQUE INDEX row_own ON row(kernel, device, setting, coalesce(reuse_bytes, -1.0)) WHERE origin = 'own';
CREATE INDEX row_kernel ON row(kernel, device, setting);
CREATE INDEX row_population ON row(device, setting, outcome);
CREATE INDEX block_row ON block("row");
CREATE UNIQUE INDEX model_row_identity ON model_row(plan_identity, device, setting);
CREATE INDEX model_block_row ON model_block("row");
CREATE UNIQUE INDEX plan_kernel_position ON plan_kernel(plan, position);
COMMIT;
PRAGMA application_id = 1330662484;
PRAGMA user_version = 2;
