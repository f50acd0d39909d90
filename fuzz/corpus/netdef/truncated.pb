
fp32%w"GivenTensorFill*
shape0000b"GivenTensorFill*	
shape0=
data
w
bc"Conv*

kernel*

legacy_pad*

stride:
c
b
b
b
bn"	SpatialBN*
epsilon¬Å'7*
is_test
nn"Relu7
np"MaxPool*

kernel*

legacy_pad*

stridew
nq"AveragePool*
kern